/** A queue of callback values, which a test consumes one by one in order of arrival. */
export class Arrivals<T> {
  readonly #arrived: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];

  readonly push = (item: T): void => {
    const taker = this.#waiting.shift();
    if (taker === undefined) this.#arrived.push(item);
    else taker(item);
  };

  /** Resolves with the next value as soon as it arrives. */
  next(): Promise<T> {
    const item = this.#arrived.shift();
    return item === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(item);
  }

  async take(count: number): Promise<T[]> {
    const items: T[] = [];
    while (items.length < count) items.push(await this.next());
    return items;
  }
}
