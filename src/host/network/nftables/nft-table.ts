/**
 * The wanted content of one nftables table as values. Objects that did not change keep their identity from one value to the next, which
 * makes comparing them cheap. Not here: the scripts (nft-script.ts) and running them (nft-writer.ts).
 */

export interface NftTable {
  readonly family: "ip" | "ip6" | "inet" | "bridge";
  readonly name: string;
  /**
   * Name of an empty chain, "layout-1", to which a rule of a base chain jumps. It marks the layout: tables without it are recreated. And it
   * is the probe of `NftWriter.isIntact`: a chain cannot be deleted as long as a rule refers to it.
   */
  readonly layout: string;
  /** Chains that a hook calls. They exist from the first script on and never change their declaration within one layout. */
  readonly baseChains: ReadonlyMap<string, BaseChain>;
  /** Rules by chain, the base chains included. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Sets and maps by name. */
  readonly sets: ReadonlyMap<string, NftSet>;
}

export interface BaseChain {
  /** "type filter hook forward priority filter; policy accept;" */
  readonly declaration: string;
}

export interface NftSet {
  readonly kind: "set" | "map";
  /** "type ipv4_addr : verdict;". A set of this name with another declaration must not exist: what varies is part of the name. */
  readonly declaration: string;
  /** Values by key; "" in a set. Absent: packets fill it, and its content survives until it is removed. */
  readonly elements?: ReadonlyMap<string, string>;
  /** `elements` differs from `since` in these keys at most, which makes comparing the two cheap. */
  readonly changes?: { readonly since: WeakRef<ReadonlyMap<string, string>>; readonly keys: readonly string[] };
}

/** Names that a table in the kernel has. */
export interface ExistingTable {
  readonly chains: readonly string[];
  readonly sets: readonly { readonly kind: "set" | "map"; readonly name: string }[];
}
