/**
 * Least-recently-used cache, limited by number of entries and, optionally, by total weight. Every operation is O(1): a Map for lookup, a
 * ring for the order. (A Map alone, with each used entry re-inserted, scans the holes of removed entries to find the oldest.)
 */
import { assert } from "./assert.ts";

export interface LruOptions<K, V> {
  /** Maximum number of entries. */
  readonly max: number;
  /** Maximum total weight. An entry that alone exceeds it is not kept. Default: no limit. */
  readonly maxWeight?: number;
  /** Weight of an entry, called once per `set`; 0 or more. Default: 1. */
  readonly weigh?: (value: V, key: K) => number;
}

interface Link<K, V> {
  /** Used next after this one. */
  newer: Link<K, V>;
  /** Used last before this one. */
  older: Link<K, V>;
  readonly key: K;
  value: V;
  weight: number;
}

export class Lru<K, V> {
  readonly #max: number;
  readonly #maxWeight: number;
  readonly #weigh: (value: V, key: K) => number;
  readonly #links = new Map<K, Link<K, V>>();
  /** Sentinel between newest and oldest; holds no entry. Its `older` is the newest entry, its `newer` the oldest. */
  readonly #seam: Link<K, V>;
  #weight = 0;

  constructor({ max, maxWeight = Infinity, weigh = () => 1 }: LruOptions<K, V>) {
    assert(max >= 1 && maxWeight > 0, "there is room for at least one entry");
    this.#max = max;
    this.#maxWeight = maxWeight;
    this.#weigh = weigh;
    const seam = {} as Link<K, V>;
    seam.newer = seam;
    seam.older = seam;
    this.#seam = seam;
  }

  get size(): number {
    return this.#links.size;
  }

  /** Total weight of all entries. */
  get weight(): number {
    return this.#weight;
  }

  /** The value, marked as used. */
  get(key: K): V | undefined {
    const link = this.#links.get(key);
    if (link === undefined) return undefined;
    if (link !== this.#seam.older) {
      detach(link);
      this.#attachNewest(link);
    }
    return link.value;
  }

  /** The value, without marking it as used. */
  peek(key: K): V | undefined {
    return this.#links.get(key)?.value;
  }

  has(key: K): boolean {
    return this.#links.has(key);
  }

  /** Stores `value` as the newest entry, replacing the previous one, and evicts the oldest until all limits hold. */
  set(key: K, value: V): void {
    const weight = this.#weigh(value, key);
    assert(weight >= 0, "a weight is 0 or more");
    this.delete(key);
    if (weight > this.#maxWeight) return;
    const link = { key, value, weight } as Link<K, V>;
    this.#links.set(key, link);
    this.#attachNewest(link);
    this.#weight += weight;
    while (this.#links.size > this.#max || this.#weight > this.#maxWeight) this.delete(this.#seam.newer.key);
  }

  /** `false`: the key did not exist. */
  delete(key: K): boolean {
    const link = this.#links.get(key);
    if (link === undefined) return false;
    this.#links.delete(key);
    detach(link);
    this.#weight -= link.weight;
    return true;
  }

  clear(): void {
    this.#links.clear();
    this.#seam.newer = this.#seam;
    this.#seam.older = this.#seam;
    this.#weight = 0;
  }

  /** All entries, newest first, without marking them as used. The cache must not change during iteration. */
  *entries(): IterableIterator<[K, V]> {
    for (let link = this.#seam.older; link !== this.#seam; link = link.older) yield [link.key, link.value];
  }

  #attachNewest(link: Link<K, V>): void {
    const second = this.#seam.older;
    link.older = second;
    link.newer = this.#seam;
    second.newer = link;
    this.#seam.older = link;
  }
}

function detach<K, V>(link: Link<K, V>): void {
  link.older.newer = link.newer;
  link.newer.older = link.older;
}
