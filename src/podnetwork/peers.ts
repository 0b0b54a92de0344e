/**
 * The other nodes of a cluster as the Pod network needs them, out of Node objects. A Node is input from another machine: its Pod CIDR is
 * used only if it is within the cluster CIDR and of no other node, so that no node can attract foreign traffic, and its address only if a
 * route can go to it, so that no node can stop the others. Pure.
 */
import type { Node } from "../api/generated/core/v1.ts";
import type { FamilyRanges } from "../api/pod-ranges.ts";
import { cidrContains, cidrsOverlap, formatCidr, networkOf, parseCidr, parseIp, type Cidr } from "../api/machinery/ip/ip-address.ts";

export interface Peer {
  readonly name: string;
  /** InternalIP, IPv4. */
  readonly address: string;
  /** "10.244.1.0/24" */
  readonly podCidr: string;
  /** Absent: its Pods are reached by IPv4 only. */
  readonly ipv6?: Ipv6Peer;
}

export interface Ipv6Peer {
  /** "fd00:10:244:1::/64" */
  readonly podCidr: string;
  /** InternalIP. Absent: it has none. */
  readonly address?: string;
}

export interface OwnNode extends FamilyRanges {
  readonly nodeName: string;
  /** InternalIP, IPv4. */
  readonly address: string;
  /** Of IPv6. Absent: IPv6 of other nodes is ignored. */
  readonly ipv6?: (FamilyRanges & { readonly address?: string | undefined }) | undefined;
}

export interface Peers {
  readonly peers: readonly Peer[];
  /** Sentences about Nodes that are not used, by name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Ordered by name. Nodes without an address or Pod CIDR are not complete yet and left out. */
export function peersOf(nodes: readonly Node[], own: OwnNode): Peers {
  const problems = new Map<string, string>();
  const taken: Taken[] = ownCidrs(own);
  const found: Peer[] = [];
  // Of two with the same CIDR the older keeps it.
  for (const node of nodes.toSorted(byAge)) {
    const { name } = node.metadata;
    const address = internalAddress(node, 4);
    const cidr = podCidrOf(node, 4);
    if (name === own.nodeName || address === undefined || cidr === undefined) continue;
    const problem = addressProblem(address, own.address) ?? cidrProblem(cidr, own.clusterCidr, taken);
    if (problem !== undefined) {
      problems.set(name, problem);
      continue;
    }
    taken.push({ name, cidr });
    const ipv6 = ipv6Of(node, own, { taken, problems });
    found.push({ name, address, podCidr: formatCidr(networkOf(cidr)), ...(ipv6 === undefined ? {} : { ipv6 }) });
  }
  return { peers: found.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

interface Taken {
  readonly name: string;
  readonly cidr: Cidr;
}

function ownCidrs({ nodeName, podCidr, ipv6 }: OwnNode): Taken[] {
  return [podCidr, ipv6?.podCidr ?? ""].flatMap((text) => {
    const cidr = parseCidr(text);
    return cidr === undefined ? [] : [{ name: nodeName, cidr }];
  });
}

/** A problem with it leaves the IPv4 of the node alone. */
function ipv6Of(
  node: Node,
  { ipv6: own }: OwnNode,
  { taken, problems }: { readonly taken: Taken[]; readonly problems: Map<string, string> },
): Ipv6Peer | undefined {
  const cidr = podCidrOf(node, 6);
  if (own === undefined || cidr === undefined) return undefined;
  const { name } = node.metadata;
  const address = internalAddress(node, 6);
  const problem = (address === undefined ? undefined : addressProblem(address, own.address)) ?? cidrProblem(cidr, own.clusterCidr, taken);
  if (problem !== undefined) {
    problems.set(name, problem);
    return undefined;
  }
  taken.push({ name, cidr });
  return { podCidr: formatCidr(networkOf(cidr)), ...(address === undefined ? {} : { address }) };
}

function addressProblem(address: string, own: string | undefined): string | undefined {
  if (!isUnicast(address)) return `its address ${address} is not that of a machine`;
  return address === own ? `its address ${address} is that of this node` : undefined;
}

function cidrProblem(cidr: Cidr, clusterCidr: string, taken: readonly Taken[]): string | undefined {
  if (!isWithin(clusterCidr, cidr)) return `its Pod CIDR ${formatCidr(cidr)} is not within ${clusterCidr}`;
  const other = taken.find((one) => cidrsOverlap(one.cidr, cidr));
  return other === undefined ? undefined : `its Pod CIDR ${formatCidr(cidr)} overlaps that of node ${other.name}`;
}

function byAge(a: Node, b: Node): number {
  const order = ({ metadata }: Node): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return order(a) < order(b) ? -1 : 1;
}

function internalAddress({ status }: Node, family: 4 | 6): string | undefined {
  return status?.addresses?.find(({ type, address }) => type === "InternalIP" && parseIp(address)?.family === family)?.address;
}

const NOT_OF_MACHINES = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "::/127", "fe80::/10", "ff00::/8"].flatMap(
  (text) => parseCidr(text) ?? [],
);

function isUnicast(address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && !NOT_OF_MACHINES.some((range) => cidrContains(range, ip));
}

function podCidrOf({ spec }: Node, family: 4 | 6): Cidr | undefined {
  const texts = spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
  return texts.map(parseCidr).find((cidr) => cidr?.address.family === family);
}

function isWithin(clusterCidr: string, cidr: Cidr): boolean {
  const cluster = parseCidr(clusterCidr);
  return cluster !== undefined && cidr.prefixLength >= cluster.prefixLength && cidrContains(cluster, cidr.address);
}
