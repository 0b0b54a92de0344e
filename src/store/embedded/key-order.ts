/**
 * Checks that the keys of a tree are in order, in one pass. Copies nothing: the bytes of the last key must stay unchanged until the next
 * one was checked, or be kept with `keep`.
 */

/** As lmdb compares keys: bytewise, or as little-endian numbers. */
export type KeyComparison = "bytes" | "numbers";

export class KeyOrder {
  readonly #comparison: KeyComparison;
  /** Copy of the last key when its page is dropped. */
  readonly #kept: Uint8Array;
  #bytes: Uint8Array;
  #start = 0;
  /** Below 0: there was none yet. */
  #length = -1;
  #mayRepeat = false;

  /** `keyBytesMax`: the length of the longest key. */
  constructor(comparison: KeyComparison, keyBytesMax: number) {
    this.#comparison = comparison;
    this.#kept = new Uint8Array(keyBytesMax);
    this.#bytes = this.#kept;
  }

  /** Whether the next key of a leaf is greater than all before it. */
  isNext(bytes: Uint8Array, start: number, length: number): boolean {
    return this.#take(bytes, start, length, false);
  }

  /** Whether a separator key of a branch is greater than all before it. */
  isNextBound(bytes: Uint8Array, start: number, length: number): boolean {
    return this.#take(bytes, start, length, true);
  }

  /** The bytes of the last key may change from now on. */
  keep(): void {
    if (this.#length > 0) this.#kept.set(this.#bytes.subarray(this.#start, this.#start + this.#length));
    this.#bytes = this.#kept;
    this.#start = 0;
  }

  #take(bytes: Uint8Array, start: number, length: number, mayRepeat: boolean): boolean {
    const order = this.#length < 0 ? 1 : this.#compare(bytes, start, length);
    const inOrder = order > 0 || (order === 0 && this.#mayRepeat);
    this.#bytes = bytes;
    this.#start = start;
    this.#length = length;
    this.#mayRepeat = mayRepeat;
    return inOrder;
  }

  /** Above 0 if the given key is greater than the last one. */
  #compare(bytes: Uint8Array, start: number, length: number): number {
    return this.#comparison === "bytes" ? this.#compareBytes(bytes, start, length) : this.#compareNumbers(bytes, start, length);
  }

  #compareBytes(bytes: Uint8Array, start: number, length: number): number {
    const common = Math.min(length, this.#length);
    for (let index = 0; index < common; index++) {
      const difference = (bytes[start + index] ?? 0) - (this.#bytes[this.#start + index] ?? 0);
      if (difference !== 0) return difference;
    }
    return length - this.#length;
  }

  #compareNumbers(bytes: Uint8Array, start: number, length: number): number {
    for (let index = length - 1; index >= 0; index--) {
      const difference = (bytes[start + index] ?? 0) - (this.#bytes[this.#start + index] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
