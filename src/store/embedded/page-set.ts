/** A set of pages as a bitmap: affordable memory for a check of the whole file. Not here: what they are used for. */
export class PageSet {
  readonly #bits: Uint8Array;
  readonly #size: number;

  /** For pages with numbers below `size`. */
  constructor(size: number) {
    this.#size = size;
    this.#bits = new Uint8Array(Math.ceil(size / 8));
  }

  /** Adds `count` pages from `first` on, as far as they exist. Returns the first that was already in the set. */
  add(first: number, count: number): number | undefined {
    let already: number | undefined;
    const end = Math.min(first + count, this.#size);
    for (let number = first; number < end; number++) {
      const bit = 1 << (number & 7);
      const byte = number >>> 3;
      const bits = this.#bits[byte] ?? 0;
      if ((bits & bit) !== 0) already ??= number;
      this.#bits[byte] = bits | bit;
    }
    return already;
  }

  /** The first page that is also in `other`, a set of the same size. */
  firstIn(other: PageSet): number | undefined {
    for (const [byte, bits] of this.#bits.entries()) {
      const common = bits & (other.#bits[byte] ?? 0);
      if (common !== 0) return byte * 8 + Math.log2(common & -common);
    }
    return undefined;
  }
}
