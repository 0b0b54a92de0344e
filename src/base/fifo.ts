/**
 * First-in-first-out queue with amortised O(1) operations. `Array.shift` moves every element of a large array, and finding the oldest entry
 * of a Set scans the holes of removed ones.
 */
export class Fifo<T> {
  /** The newest last. */
  #arriving: T[] = [];
  /** The oldest last. Refilled by reversing `#arriving` when empty, so that each item is moved once. */
  #leaving: T[] = [];

  get length(): number {
    return this.#arriving.length + this.#leaving.length;
  }

  /** The oldest item without removing it; `undefined` if empty. */
  peek(): T | undefined {
    return this.#leaving.at(-1) ?? this.#arriving[0];
  }

  push(item: T): void {
    this.#arriving.push(item);
  }

  /** Removes and returns the oldest item; `undefined` if empty. */
  shift(): T | undefined {
    if (this.#leaving.length === 0) {
      this.#leaving = this.#arriving.reverse();
      this.#arriving = [];
    }
    return this.#leaving.pop();
  }
}
