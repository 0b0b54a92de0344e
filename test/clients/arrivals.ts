/** What callbacks bring, to be taken one by one in the order of arrival by a test that waits for it. */
export class Arrivals<T> {
  readonly #arrived: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];

  readonly push = (item: T): void => {
    const taker = this.#waiting.shift();
    if (taker === undefined) this.#arrived.push(item);
    else taker(item);
  };

  /** The next one, as soon as it is there. */
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
