/**
 * Ranges of Pod addresses: of a cluster, of one of its nodes, and the node's own address in it, per IP family. A node always has an IPv4
 * range, by whose side there can be an IPv6 one (dual stack). Pure. Not here: which ranges are free (kubelet/machine/network).
 */
import { addToIp, formatCidr, formatIp, networkOf, parseCidr } from "./machinery/ip/ip-address.ts";

/** Ranges of one IP family. */
export interface FamilyRanges {
  /** "10.244.0.0/16", "fd00:10:244::/56": of all nodes. */
  readonly clusterCidr: string;
  /** "10.244.0.0/24", "fd00:10:244::/64": of this node. */
  readonly podCidr: string;
}

/** IPv4 ranges, and IPv6 ranges if Pods have addresses of both families. */
export interface PodRanges extends FamilyRanges {
  readonly ipv6?: FamilyRanges | undefined;
  /** True if IPv6 is the primary family: that of Pods' and nodes' first addresses. */
  readonly isIpv6First?: boolean | undefined;
}

/** Prefix lengths of a node's Pod CIDRs: upstream's defaults. */
export const NODE_CIDR_MASK_SIZE = { 4: 24, 6: 64 } as const;

/** Those of the node that has the first Pod CIDR of the cluster. Throws for a text that is not a range. */
export function firstNodeRanges(clusterCidr: string): FamilyRanges {
  const cidr = parseCidr(clusterCidr);
  if (cidr === undefined) throw new RangeError(`Cannot read "${clusterCidr}" as a range of Pod addresses: it should be as 10.244.0.0/16`);
  const { address, prefixLength } = networkOf(cidr);
  return {
    clusterCidr: formatCidr({ address, prefixLength }),
    podCidr: formatCidr({ address, prefixLength: NODE_CIDR_MASK_SIZE[address.family] }),
  };
}

/** The node's address on the bridge of its Pods: the first of the range after that of the network. */
export function gatewayOf(podCidr: string): string {
  const cidr = parseCidr(podCidr);
  const address = cidr === undefined ? undefined : addToIp(networkOf(cidr).address, 1);
  if (address === undefined) throw new RangeError(`Cannot read "${podCidr}" as a range of Pod addresses: it should be as 10.244.0.0/24`);
  return formatIp(address);
}

/** The IPv6 cluster CIDR of a cluster with this IPv4 one: "fd00:10:244::/56" for "10.244.0.0/16". Distinct for distinct ranges of this size. */
export function ipv6RangeBeside(clusterCidr: string): string {
  const [first = "", second = ""] = clusterCidr.split(".");
  return `fd00:${first}:${second}::/56`;
}

/** The Pod CIDRs of a node, that of the primary family first. */
export function nodeCidrsOf({ podCidr, ipv6, isIpv6First }: Pick<PodRanges, "podCidr" | "ipv6" | "isIpv6First">): readonly string[] {
  return ordered(podCidr, ipv6?.podCidr, isIpv6First);
}

/** The cluster CIDRs, that of the primary family first. */
export function clusterCidrsOf({ clusterCidr, ipv6, isIpv6First }: Pick<PodRanges, "clusterCidr" | "ipv6" | "isIpv6First">) {
  return ordered(clusterCidr, ipv6?.clusterCidr, isIpv6First);
}

/** One value per family, that of the primary family first. */
export function ordered(ipv4: string, ipv6: string | undefined, isIpv6First = false): readonly string[] {
  if (ipv6 === undefined) return [ipv4];
  return isIpv6First ? [ipv6, ipv4] : [ipv4, ipv6];
}

export function isIpv6(text: string): boolean {
  return text.includes(":");
}

/** The first of each family in a list of addresses or ranges; `isIpv6First`: the list starts with IPv6. */
export function byFamily(texts: readonly string[]): {
  readonly ipv4: string | undefined;
  readonly ipv6: string | undefined;
  readonly isIpv6First: boolean;
} {
  const [ipv4, ipv6] = [texts.find((text) => !isIpv6(text)), texts.find(isIpv6)];
  return { ipv4, ipv6, isIpv6First: ipv6 !== undefined && texts[0] === ipv6 };
}
