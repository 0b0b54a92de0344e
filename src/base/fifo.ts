/**
 * First in, first out, at the same cost per item however long the line is. `Array.shift` moves everything once an array is large,
 * and the oldest entry of a Set is found by walking over the holes of those that were removed.
 */
export class Fifo<T> {
  /** The newest last. */
  #arriving: T[] = [];
  /** The oldest last. Filled by turning `#arriving` around when it is empty, so each item is moved once. */
  #leaving: T[] = [];

  get length(): number {
    return this.#arriving.length + this.#leaving.length;
  }

  /** The oldest item, which stays; `undefined` when there is none. */
  peek(): T | undefined {
    return this.#leaving.at(-1) ?? this.#arriving[0];
  }

  push(item: T): void {
    this.#arriving.push(item);
  }

  /** Takes the oldest item; `undefined` when there is none. */
  shift(): T | undefined {
    if (this.#leaving.length === 0) {
      this.#leaving = this.#arriving.reverse();
      this.#arriving = [];
    }
    return this.#leaving.pop();
  }
}
