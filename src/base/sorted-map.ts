/**
 * Map sorted by key with O(1) copies: copies share all nodes that neither has changed since. Paged lists, forks of a store and reads of
 * past revisions are such copies. The only file that uses `sorted-btree`.
 *
 * Surprises of the library that are hidden here:
 * - A change during iteration skips or repeats entries. Here an iteration uses a copy of its own.
 * - `undefined` as a value can misplace neighbouring values when leaves merge. Here the type forbids it.
 * - `getRange` returns one entry more than its limit, and arrays are reused between calls. Neither is used.
 */
import sortedBtree from "sorted-btree";
import { assert } from "./assert.ts";

const BTree = sortedBtree.default;
type BTree<K, V> = sortedBtree.default<K, V>;

/** Bounds of a range. At most one of `from` and `after`; neither: from the first. Without `before`: to the last. */
export interface KeyRange<K extends string | number> {
  /** Inclusive lower bound. */
  readonly from?: K;
  /** Exclusive lower bound. */
  readonly after?: K;
  /** Exclusive upper bound. */
  readonly before?: K;
}

/** Anything but undefined. */
export type Defined = NonNullable<unknown> | null;

/** Strings by UTF-16 unit (`<`), not by locale; numbers by value. NaN is not a key: it has no position in any order. */
export function compareKeys<K extends string | number>(a: K, b: K): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export class SortedMap<K extends string | number, V extends Defined> {
  readonly #compare: (a: K, b: K) => number;
  #tree: BTree<K, V>;

  /** `compare` returns a number below, above or equal to 0 and must be consistent. */
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

  /** `false`: the key did not exist. */
  delete(key: K): boolean {
    // Checked first, since the library copies shared nodes even if there is nothing to delete.
    return this.has(key) && this.#tree.delete(key);
  }

  /** O(1) copy: changes to either are invisible in the other. */
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

  /** The entry with the least key above `key`, which need not exist. */
  nextAfter(key: K): [K, V] | undefined {
    return this.#tree.nextHigherPair(key);
  }

  /** The entry with the greatest key below `key`, which need not exist. */
  nextBefore(key: K): [K, V] | undefined {
    return this.#tree.nextLowerPair(key);
  }

  /**
   * Calls `visit` for each entry in order until it returns `false`; does not allocate per entry, so use it for long lists. The map may
   * change meanwhile: the visit covers the entries present at its start.
   */
  forEach(visit: (key: K, value: V) => boolean | void, range: KeyRange<K> = {}): void {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return;
    const { low, high, includeHigh } = bounds;
    this.#tree.clone().forRange(low, high, includeHigh, (key, value) => (visit(key, value) === false ? STOP : undefined));
  }

  /** The entries in order, a new pair for each. The map may change meanwhile, as with `forEach`. */
  entries(range: KeyRange<K> = {}): IterableIterator<[K, V]> {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return [].values();
    const { low, high, includeHigh } = bounds;
    const all = this.#tree.clone().entries(low);
    const isPast = includeHigh ? () => false : (key: K) => this.#compare(key, high) >= 0;
    return takeUntil(all, isPast);
  }

  /** Number of entries in a range. Skips whole leaves instead of visiting each entry. */
  count(range: KeyRange<K> = {}): number {
    const bounds = this.#boundsOf(range);
    if (bounds === undefined) return 0;
    return this.#tree.forRange(bounds.low, bounds.high, bounds.includeHigh);
  }

  /** The range in the library's terms; `undefined`: it is empty. */
  #boundsOf({ from, after, before }: KeyRange<K>): { low: K; high: K; includeHigh: boolean } | undefined {
    assert(from === undefined || after === undefined, "a range begins from a key or after one, not both");
    const low = after === undefined ? (from ?? this.#tree.minKey()) : this.#tree.nextHigherKey(after);
    const high = before ?? this.#tree.maxKey();
    // With reversed bounds the library returns a negative count.
    if (low === undefined || high === undefined || this.#compare(low, high) > 0) return undefined;
    return { low, high, includeHigh: before === undefined };
  }
}

/** Makes the library stop iterating. */
const STOP = { break: true };

function* takeUntil<K, V>(entries: Iterable<[K, V]>, isPast: (key: K) => boolean): IterableIterator<[K, V]> {
  for (const entry of entries) {
    if (isPast(entry[0])) return;
    yield entry;
  }
}
