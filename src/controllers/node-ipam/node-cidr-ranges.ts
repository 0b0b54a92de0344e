/**
 * Chooses Pod CIDRs of Nodes out of the cluster CIDRs: one per cluster CIDR, so that a Node of a dual-stack cluster has one per family.
 * Stateless: what is in use is computed from the Nodes, so that nothing can be lost in a crash. Pure.
 */
import type { Node } from "../../api/generated/core/v1.ts";
import { addToIp, cidrsOverlap, formatCidr, networkOf, parseSloppyCidr, type Cidr } from "../../api/machinery/ip/ip-address.ts";

export interface NodeCidrRange {
  readonly clusterCidr: Cidr;
  /** Prefix length of each Node's CIDR. */
  readonly nodeMaskSize: number;
}

export interface NodeIpamSettings {
  /** At most one per IP family. */
  readonly ranges: readonly NodeCidrRange[];
  /** Never assigned: ranges of cluster IPs, and CIDRs of nodes that choose their own. */
  readonly excluded?: readonly Cidr[];
}

/** Upstream's limit of a range allocator: 65,536 Nodes per cluster CIDR. */
export const NODE_CIDR_BITS_MAX = 16;

export function podCidrsOf({ spec }: Node): readonly string[] {
  if (spec?.podCIDRs !== undefined && spec.podCIDRs.length > 0) return spec.podCIDRs;
  return spec?.podCIDR === undefined || spec.podCIDR === "" ? [] : [spec.podCIDR];
}

/** One CIDR per range, the lowest that is free; undefined if a range is exhausted. */
export function chooseNodeCidrs({ ranges, excluded = [] }: NodeIpamSettings, others: Iterable<Node>): readonly string[] | undefined {
  const used: Cidr[] = [];
  for (const node of others) used.push(...parsedCidrs(node));
  const chosen: string[] = [];
  for (const range of ranges) {
    const free = firstFree(range, used, excluded);
    if (free === undefined) return undefined;
    chosen.push(formatCidr(free));
  }
  return chosen;
}

function firstFree({ clusterCidr, nodeMaskSize }: NodeCidrRange, used: readonly Cidr[], excluded: readonly Cidr[]): Cidr | undefined {
  const { address: first } = networkOf(clusterCidr);
  const hostBits = BigInt((first.family === 4 ? 32 : 128) - nodeMaskSize);
  const count = 2 ** (nodeMaskSize - clusterCidr.prefixLength);
  const taken = takenIndexes({ first: first.value, hostBits, count }, used.filter(isOfFamily(first.family)));
  const excludedHere = excluded.filter(isOfFamily(first.family));
  for (let index = 0; index < count; index++) {
    if (taken.has(index)) continue;
    const address = addToIp(first, BigInt(index) << hostBits);
    if (address === undefined) return undefined;
    const candidate: Cidr = { address, prefixLength: nodeMaskSize };
    if (!excludedHere.some((one) => cidrsOverlap(one, candidate))) return candidate;
  }
  return undefined;
}

function isOfFamily(family: 4 | 6): (cidr: Cidr) => boolean {
  return ({ address }) => address.family === family;
}

interface Slots {
  /** First address of the cluster CIDR. */
  readonly first: bigint;
  /** Bits of the addresses within a Node's CIDR. */
  readonly hostBits: bigint;
  readonly count: number;
}

/** Those that overlap a used CIDR, of whatever size: the mask size of a cluster may change. */
function takenIndexes({ first, hostBits, count }: Slots, used: readonly Cidr[]): ReadonlySet<number> {
  const taken = new Set<number>();
  for (const cidr of used) {
    const { address, prefixLength } = networkOf(cidr);
    const size = 1n << BigInt((address.family === 4 ? 32 : 128) - prefixLength);
    const low = (address.value - first) >> hostBits;
    const high = (address.value + size - 1n - first) >> hostBits;
    const end = high < BigInt(count) ? Number(high) : count - 1;
    for (let index = low < 0n ? 0 : Number(low); index <= end; index++) taken.add(index);
  }
  return taken;
}

/** Objects are immutable, so that each is parsed once and not for every assignment. */
const parsed = new WeakMap<Node, readonly Cidr[]>();

function parsedCidrs(node: Node): readonly Cidr[] {
  const known = parsed.get(node);
  if (known !== undefined) return known;
  const cidrs = podCidrsOf(node).flatMap((text) => parseSloppyCidr(text) ?? []);
  parsed.set(node, cidrs);
  return cidrs;
}
