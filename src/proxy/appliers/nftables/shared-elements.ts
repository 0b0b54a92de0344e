/**
 * The maps and sets that all ports of a table share, kept up to date port by port: a change costs the elements of the changed ports and a
 * copy of the maps that contain them, not a comparison of all 100,000 elements of 10,000 Services.
 */
import type { NftSet } from "../../../host/network/nftables/nft-table.ts";
import { ENDPOINT_MAPS, familyName, type EndpointRange, type Fragment, type SharedSet } from "./service-rules.ts";

const SHARED_SETS: readonly SharedSet[] = [
  "cluster-ips",
  "service-ips",
  "external-ips",
  "node-ports",
  "no-endpoint-ips",
  "no-endpoint-node-ports",
  "firewall-ips",
  ...Object.values(ENDPOINT_MAPS),
  "hairpin",
];

export class SharedElements {
  readonly #sets: ReadonlyMap<SharedSet, ClaimedSet>;

  constructor(family: 4 | 6) {
    this.#sets = new Map(SHARED_SETS.map((name) => [name, new ClaimedSet(declarationOf(name, family))]));
  }

  /** `port`: the key of the port that has the fragments. */
  replace(port: string, before: Fragment | undefined, now: Fragment | undefined): void {
    for (const [name, elements] of before?.elements ?? []) for (const [key] of elements) this.#sets.get(name)?.release(key, port);
    for (const [name, elements] of now?.elements ?? [])
      for (const [key, value] of elements) this.#sets.get(name)?.claim(key, { port, value });
    // Claimed first: a list of endpoints that stays is then never removed.
    for (const range of now?.ranges ?? []) this.#sets.get(range.map)?.claimRange(range);
    for (const range of before?.ranges ?? []) this.#sets.get(range.map)?.releaseRange(range);
  }

  /** Whether a port uses the list of endpoints that begins with this number. */
  usesRange(start: number): boolean {
    return Object.values(ENDPOINT_MAPS).some((map) => this.#sets.get(map)?.hasRange(start) === true);
  }

  /** Sets that did not change keep their identity. */
  *current(): IterableIterator<readonly [SharedSet, NftSet]> {
    for (const [name, set] of this.#sets) yield [name, set.current()];
  }
}

interface Claim {
  /** Key of the port. */
  readonly port: string;
  readonly value: string;
}

class ClaimedSet {
  /** Two Services may claim one external address and port: the first by name has it. */
  readonly #claims = new Map<string, readonly Claim[]>();
  /** Ports per list of endpoints, by its first number: equal lists of a protocol share their numbers. */
  readonly #ranges = new Map<number, number>();
  /** New values since `current`; undefined: removed. */
  readonly #pending = new Map<string, string | undefined>();
  #current: NftSet & { readonly elements: ReadonlyMap<string, string> };

  constructor(declaration: Pick<NftSet, "kind" | "declaration">) {
    this.#current = { ...declaration, elements: new Map() };
  }

  claim(key: string, claim: Claim): void {
    const others = this.#claims.get(key) ?? [];
    this.#setClaims(
      key,
      [...others, claim].sort((a, b) => (a.port < b.port ? -1 : 1)),
    );
  }

  release(key: string, port: string): void {
    const claims = this.#claims.get(key) ?? [];
    this.#setClaims(
      key,
      claims.filter((claim) => claim.port !== port),
    );
  }

  claimRange({ start, elements }: EndpointRange): void {
    const count = this.#ranges.get(start) ?? 0;
    this.#ranges.set(start, count + 1);
    if (count === 0) for (const [key, value] of elements) this.#pending.set(key, value);
  }

  releaseRange({ start, elements }: EndpointRange): void {
    const count = this.#ranges.get(start) ?? 0;
    if (count > 1) {
      this.#ranges.set(start, count - 1);
      return;
    }
    this.#ranges.delete(start);
    for (const [key] of elements) this.#pending.set(key, undefined);
  }

  hasRange(start: number): boolean {
    return this.#ranges.has(start);
  }

  current(): NftSet {
    if (this.#pending.size === 0) return this.#current;
    const { elements: before, kind, declaration } = this.#current;
    const elements = new Map(before);
    for (const [key, value] of this.#pending) {
      if (value === undefined) elements.delete(key);
      else elements.set(key, value);
    }
    this.#current = { kind, declaration, elements, changes: { since: new WeakRef(before), keys: [...this.#pending.keys()] } };
    this.#pending.clear();
    return this.#current;
  }

  #setClaims(key: string, claims: readonly Claim[]): void {
    if (claims.length === 0) this.#claims.delete(key);
    else this.#claims.set(key, claims);
    this.#pending.set(key, claims[0]?.value);
  }
}

function declarationOf(name: SharedSet, family: 4 | 6): Pick<NftSet, "kind" | "declaration"> {
  const address = family === 4 ? "ipv4_addr" : "ipv6_addr";
  const [, protocol] = name.split("endpoints-");
  if (protocol !== undefined)
    return { kind: "map", declaration: `typeof numgen random mod 2 : ${familyName(family)} daddr . ${protocol} dport;` };
  if (name === "service-ips") return { kind: "set", declaration: `type ${address};` };
  if (name === "hairpin") return { kind: "set", declaration: `type ${address} . ${address};` };
  const key = name.endsWith("node-ports") ? "inet_proto . inet_service" : `${address} . inet_proto . inet_service`;
  return { kind: "map", declaration: `type ${key} : verdict;` };
}
