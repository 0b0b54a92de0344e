/**
 * A map that is sorted by key, and of which a copy costs nothing: two copies share all that neither has changed since. A list
 * that is read in pages, a fork of a store and a look at the past are such copies. The one place that knows `sorted-btree`.
 *
 * What is kept from its users, since there the library is surprising:
 * - A change under a running iteration skips or doubles entries. Here an iteration goes over a copy of its own.
 * - `undefined` as a value can put neighbours' values in the wrong place when leaves merge. Here the type forbids it.
 * - `getRange` returns one entry more than its limit, and arrays are reused between calls. Neither is used.
 */
import sortedBtree from "sorted-btree";
import { assert } from "./assert.ts";

const BTree = sortedBtree.default;
type BTree<K, V> = sortedBtree.default<K, V>;

/** Which entries. At most one of `from` and `after`; neither: from the first. No `before`: to the last. */
export interface KeyRange<K extends string | number> {
  /** The first key, if it is there. */
  readonly from?: K;
  /** The key before the first, whether it is there or not. */
  readonly after?: K;
  /** The key after the last, whether it is there or not. */
  readonly before?: K;
}

/** Anything but undefined. */
export type Defined = NonNullable<unknown> | null;

/** Texts by their UTF-16 units (`<`), not by any language; numbers by size. NaN is no key: it has no place in any order. */
export function compareKeys<K extends string | number>(a: K, b: K): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export class SortedMap<K extends string | number, V extends Defined> {
  readonly #compare: (a: K, b: K) => number;
  #tree: BTree<K, V>;

  /** `compare` gives a number below, above or equal to 0, and never changes its mind. */
  constructor(compare: (a: K, b: K) => number = compareKeys) {
    this.#compare = compare;
    this.#tree = new BTree<K, V>(undefined, compare);
  }

  get size(): number {
    return this.#tree.size;
  }

  get(key: K): V | undefined {
    return this.#tree.get(key);
  }

  has(key: K): boolean {
    return this.#tree.get(key) !== undefined;
  }

  /** `true`: the key is new. */
  set(key: K, value: V): boolean {
    assert(value !== undefined, "a sorted map does not hold undefined");
    return this.#tree.set(key, value);
  }

  /** `false`: it was not there. */
  delete(key: K): boolean {
    // Asked first, since the library copies what is shared even when there is nothing to delete.
    return this.has(key) && this.#tree.delete(key);
  }

  /** A copy at once: what is done to either is not seen in the other. */
  clone(): SortedMap<K, V> {
    const copy = new SortedMap<K, V>(this.#compare);
    copy.#tree = this.#tree.clone();
    return copy;
  }

  first(): [K, V] | undefined {
    return this.#tree.nextHigherPair(undefined);
  }

  last(): [K, V] | undefined {
    return this.#tree.nextLowerPair(undefined);
  }

  /** The entry with the least key above `key`, whether that is there or not. */
  nextAfter(key: K): [K, V] | undefined {
    return this.#tree.nextHigherPair(key);
  }

  /** The entry with the greatest key below `key`, whether that is there or not. */
  nextBefore(key: K): [K, V] | undefined {
    return this.#tree.nextLowerPair(key);
  }

  /**
   * Calls `visit` for each entry in order until it returns `false`; makes nothing per entry, so it is the way over long lists.
   * The map may be changed meanwhile: the visit goes over the entries that were there at the start.
   */
  forEach(visit: (key: K, value: V) => boolean | void, range: KeyRange<K> = {}): void {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return;
    const { low, high, includeHigh } = bounds;
    this.#tree.clone().forRange(low, high, includeHigh, (key, value) => (visit(key, value) === false ? STOP : undefined));
  }

  /** The entries in order, a new pair for each. The map may be changed meanwhile, as with `forEach`. */
  entries(range: KeyRange<K> = {}): IterableIterator<[K, V]> {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return [].values();
    const { low, high, includeHigh } = bounds;
    const all = this.#tree.clone().entries(low);
    const isPast = includeHigh ? () => false : (key: K) => this.#compare(key, high) >= 0;
    return takeUntil(all, isPast);
  }

  /** How many entries a range has. Steps over whole leaves instead of visiting each entry. */
  count(range: KeyRange<K> = {}): number {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return 0;
    return this.#tree.forRange(bounds.low, bounds.high, bounds.includeHigh);
  }

  /** The range in the library's terms; `undefined`: there is nothing in it. */
  #boundsOf({ from, after, before }: KeyRange<K>): { low: K; high: K; includeHigh: boolean } | undefined {
    assert(from === undefined || after === undefined, "a range begins from a key or after one, not both");
    const low = after === undefined ? (from ?? this.#tree.minKey()) : this.#tree.nextHigherKey(after);
    const high = before ?? this.#tree.maxKey();
    // With the bounds the wrong way round the library counts less than nothing.
    if (low === undefined || high === undefined || this.#compare(low, high) > 0) return undefined;
    return { low, high, includeHigh: before === undefined };
  }
}

/** Tells the library to go no further. */
const STOP = { break: true };

function* takeUntil<K, V>(entries: Iterable<[K, V]>, isPast: (key: K) => boolean): IterableIterator<[K, V]> {
  for (const entry of entries) {
    if (isPast(entry[0])) return;
    yield entry;
  }
}
