/**
 * Indexes that lead packets to the chains of their service port. The kernel compares a packet with the rules of a chain one by one, so the
 * root of an index has one rule per bucket of addresses or ports, and each bucket is a chain with the rules of its service ports: 10,000
 * Services cost a packet hundreds of comparisons instead of thousands, and a new Service writes one bucket.
 */
import type { ChainNames } from "./chain-names.ts";
import type { IndexEntry, IndexName, Table } from "./port-rules.ts";

/** "nat owner-svc-…": table and name. */
export type ChainId = `${Table} ${string}`;

/** Rules by chain; undefined: the chain is removed. */
export type ChainChanges = Map<ChainId, readonly string[] | undefined>;

export const INDEXES: readonly { readonly table: Table; readonly index: IndexName }[] = (["nat", "filter"] as const).flatMap((table) =>
  (["cluster-ips", "externals", "node-ports"] as const).map((index) => ({ table, index })),
);

/** Rules by key of their service port. */
type Bucket = Map<string, { readonly rules: string[]; readonly last: string[] }>;

export class ChainIndex {
  readonly #table: Table;
  readonly #index: IndexName;
  readonly #names: ChainNames;
  /** By the matches of the bucket. */
  readonly #buckets = new Map<string, Bucket>();
  readonly #changed = new Set<string>();

  constructor({ table, index }: { readonly table: Table; readonly index: IndexName }, names: ChainNames) {
    this.#table = table;
    this.#index = index;
    this.#names = names;
  }

  add(key: string, entries: readonly IndexEntry[]): void {
    for (const { bucket: matches, rule, isLast = false } of this.#mine(entries)) {
      const bucket = this.#bucket(matches);
      let own = bucket.get(key);
      if (own === undefined) bucket.set(key, (own = { rules: [], last: [] }));
      own[isLast ? "last" : "rules"].push(rule);
      this.#changed.add(matches);
    }
  }

  remove(key: string, entries: readonly IndexEntry[]): void {
    for (const { bucket: matches } of this.#mine(entries)) {
      this.#buckets.get(matches)?.delete(key);
      this.#changed.add(matches);
    }
  }

  /** Adds the chains that differ since the last call. The root is always among the chains, also if it is empty. */
  collect(changes: ChainChanges, { isFirst }: { readonly isFirst: boolean }): void {
    let rootChanged = isFirst;
    for (const matches of this.#changed) {
      const bucket = this.#bucket(matches);
      rootChanged = true;
      if (bucket.size === 0) this.#buckets.delete(matches);
      changes.set(this.#bucketId(matches), bucket.size === 0 ? undefined : rulesOf(bucket));
    }
    this.#changed.clear();
    if (rootChanged) changes.set(`${this.#table} ${this.#names.fixed(this.#index)}`, this.#rootRules());
  }

  #mine(entries: readonly IndexEntry[]): readonly IndexEntry[] {
    return entries.filter(({ table, index }) => table === this.#table && index === this.#index);
  }

  #bucket(matches: string): Bucket {
    let bucket = this.#buckets.get(matches);
    if (bucket === undefined) this.#buckets.set(matches, (bucket = new Map()));
    return bucket;
  }

  #bucketId(matches: string): ChainId {
    return `${this.#table} ${this.#names.hashed("idx", this.#index, matches)}`;
  }

  #rootRules(): readonly string[] {
    return [...this.#buckets.keys()].sort().map((matches) => `${matches} -j ${this.#names.hashed("idx", this.#index, matches)}`);
  }
}

function rulesOf(bucket: Bucket): readonly string[] {
  const parts = [...bucket.keys()].sort().flatMap((key) => bucket.get(key) ?? []);
  return [...parts.flatMap(({ rules }) => rules), ...new Set(parts.flatMap(({ last }) => last))];
}
