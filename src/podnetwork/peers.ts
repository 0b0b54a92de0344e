/**
 * The other nodes of a cluster as the Pod network needs them, out of Node objects. A Node is input from another machine: its Pod CIDR is
 * used only if it is within the cluster CIDR and of no other node, so that no node can attract foreign traffic, and its address only if a
 * route can go to it, so that no node can stop the others. Pure.
 */
import type { Node } from "../api/generated/core/v1.ts";
import { cidrContains, cidrsOverlap, formatCidr, networkOf, parseCidr, parseIp, type Cidr } from "../api/machinery/ip-address.ts";

export interface Peer {
  readonly name: string;
  /** InternalIP, IPv4. */
  readonly address: string;
  /** "10.244.1.0/24" */
  readonly podCidr: string;
}

export interface OwnNode {
  readonly nodeName: string;
  /** InternalIP, IPv4. */
  readonly address: string;
  readonly podCidr: string;
  readonly clusterCidr: string;
}

export interface Peers {
  readonly peers: readonly Peer[];
  /** Sentences about Nodes that are not used, by name. */
  readonly problems: ReadonlyMap<string, string>;
}

/** Ordered by name. Nodes without an address or Pod CIDR are not complete yet and left out. */
export function peersOf(nodes: readonly Node[], own: OwnNode): Peers {
  const problems = new Map<string, string>();
  const taken: { readonly name: string; readonly cidr: Cidr }[] = [];
  const ownCidr = parseCidr(own.podCidr);
  if (ownCidr !== undefined) taken.push({ name: own.nodeName, cidr: ownCidr });
  const found: Peer[] = [];
  // Of two with the same CIDR the older keeps it.
  for (const node of nodes.toSorted(byAge)) {
    const { name } = node.metadata;
    const address = internalAddress(node);
    const cidr = podCidrOf(node);
    if (name === own.nodeName || address === undefined || cidr === undefined) continue;
    const other = taken.find((one) => cidrsOverlap(one.cidr, cidr));
    if (!isUnicast(address)) problems.set(name, `its address ${address} is not that of a machine`);
    else if (address === own.address) problems.set(name, `its address ${address} is that of this node`);
    else if (!isWithin(own.clusterCidr, cidr)) problems.set(name, `its Pod CIDR ${formatCidr(cidr)} is not within ${own.clusterCidr}`);
    else if (other !== undefined) problems.set(name, `its Pod CIDR ${formatCidr(cidr)} overlaps that of node ${other.name}`);
    else {
      taken.push({ name, cidr });
      found.push({ name, address, podCidr: formatCidr(networkOf(cidr)) });
    }
  }
  return { peers: found.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

function byAge(a: Node, b: Node): number {
  const order = ({ metadata }: Node): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
  return order(a) < order(b) ? -1 : 1;
}

function internalAddress({ status }: Node): string | undefined {
  return status?.addresses?.find(({ type, address }) => type === "InternalIP" && parseIp(address)?.family === 4)?.address;
}

const NOT_OF_MACHINES = ["0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3"].flatMap((text) => parseCidr(text) ?? []);

function isUnicast(address: string): boolean {
  const ip = parseIp(address);
  return ip !== undefined && !NOT_OF_MACHINES.some((range) => cidrContains(range, ip));
}

function podCidrOf({ spec }: Node): Cidr | undefined {
  const texts = spec?.podCIDRs ?? (spec?.podCIDR === undefined ? [] : [spec.podCIDR]);
  return texts.map(parseCidr).find((cidr) => cidr?.address.family === 4);
}

function isWithin(clusterCidr: string, cidr: Cidr): boolean {
  const cluster = parseCidr(clusterCidr);
  return cluster !== undefined && cidr.prefixLength >= cluster.prefixLength && cidrContains(cluster, cidr.address);
}
