/**
 * What a node's kernel must have so that its Pods reach those of all other nodes. A node on a shared network segment is a direct route; any
 * other is reached over a vxlan link: a route, a neighbour with the link's MAC address, and a forwarding entry with the node's address,
 * none of which is learned from packets. MAC addresses derive from Pod CIDRs, so that nodes need not exchange them. Packets of the tunnel are
 * IPv4 for Pods of both families, so that nodes without an IPv6 address have dual-stack Pods, too. Pure.
 */
import { cidrContains, parseCidr, parseIp } from "../api/machinery/ip/ip-address.ts";
import type { Peer } from "./peers.ts";

/** Bytes of the outer Ethernet, IPv4, UDP and vxlan headers. */
export const VXLAN_OVERHEAD_BYTES = 50;

/** Routing protocol number of our routes: none of iproute2's table. */
export const ROUTE_PROTOCOL = "158";

export interface NodeFacts {
  /** Identifies this node's routes and link; see KernelOwner. */
  readonly owner: string;
  /** Address of the node, IPv4. */
  readonly address: string;
  readonly podCidr: string;
  readonly clusterCidr: string;
  /** True if its Pods have IPv6 addresses, too. */
  readonly hasIpv6?: boolean;
  /** Its bridge, over which no other node is reached. */
  readonly bridge: string;
  readonly vxlanPort: number;
  /** "auto": direct routes where possible. */
  readonly mode: "auto" | "vxlan";
  readonly routes: readonly KernelRoute[];
  readonly mtus: ReadonlyMap<string, number>;
}

/** An entry of the routing table. */
export interface KernelRoute {
  /** "10.1.0.0/16"; "default" of IPv4, "::/0" of IPv6. */
  readonly destination: string;
  readonly gateway?: string;
  readonly link: string;
}

export interface Plan {
  readonly routes: readonly PlannedRoute[];
  /** Absent: all nodes are on shared segments. */
  readonly vxlan?: VxlanLink;
  /** Entries on the vxlan link. */
  readonly tunnels: readonly Tunnel[];
  /** Links over which Pods of other nodes arrive. */
  readonly links: readonly string[];
  /** MTU of Pods: what fits on every path. Undefined: unknown. */
  readonly podMtu?: number;
}

export interface PlannedRoute {
  readonly destination: string;
  readonly gateway: string;
  readonly link: string;
}

export interface VxlanLink {
  readonly link: string;
  readonly id: number;
  readonly port: number;
  readonly local: string;
  readonly mac: string;
  /** "10.244.0.0/32": source of the node's own traffic over it. Within the Pod CIDR, so that answers come back over it. */
  readonly address: string;
  readonly mtu: number;
}

export interface Tunnel {
  /** Address of the other node. */
  readonly remote: string;
  readonly mac: string;
  /** The other end of the link, of the family of the Pods: address of the neighbour. */
  readonly neighbour: string;
}

/** Ethernet's, where the link of the node's address is unknown. */
const MTU_DEFAULT = 1_500;

export function planPodNetwork(peers: readonly Peer[], facts: NodeFacts): Plan {
  const { link: underlay } = routeTo(facts.address, facts) ?? linkOfAddress(facts);
  const mtu = (underlay === undefined ? undefined : facts.mtus.get(underlay)) ?? MTU_DEFAULT;
  const vxlan = vxlanOf(facts, mtu);
  const routes: PlannedRoute[] = [];
  const tunnels: Tunnel[] = [];
  for (const { address: remote, podCidr, ipv6 } of peers) {
    const mac = macOf(podCidr);
    const ranges = [{ podCidr, address: remote }, ...(ipv6 === undefined || facts.hasIpv6 !== true ? [] : [ipv6])];
    for (const { podCidr: destination, address } of ranges) {
      const direct = facts.mode === "auto" && address !== undefined ? onLinkRoute(address, facts) : undefined;
      if (direct !== undefined && address !== undefined) routes.push({ destination, gateway: address, link: direct.link });
      else {
        const neighbour = firstAddress(destination);
        routes.push({ destination, gateway: neighbour, link: vxlan.link });
        tunnels.push({ remote, mac, neighbour });
      }
    }
  }
  const links = [...new Set(routes.map(({ link }) => link))].toSorted();
  const linkMtus = links.map((link) => (link === vxlan.link ? vxlan.mtu : (facts.mtus.get(link) ?? mtu)));
  const podMtu = Math.min(mtu, ...linkMtus);
  return { routes, tunnels, links, podMtu, ...(tunnels.length === 0 ? {} : { vxlan }) };
}

function vxlanOf({ owner, address, podCidr, clusterCidr, vxlanPort }: NodeFacts, underlayMtu: number): VxlanLink {
  return {
    link: vxlanLinkName(owner),
    id: vxlanId(clusterCidr),
    port: vxlanPort,
    local: address,
    mac: macOf(podCidr),
    address: `${firstAddress(podCidr)}/32`,
    mtu: underlayMtu - VXLAN_OVERHEAD_BYTES,
  };
}

/** At most 15 characters. */
export function vxlanLinkName(owner: string): string {
  return `k8v-${owner}`;
}

/** The first 24 bits of the cluster CIDR: the same on all nodes, and different for clusters that share a machine. */
export function vxlanId(clusterCidr: string): number {
  return Number((parseCidr(clusterCidr)?.address.value ?? 0n) >> 8n);
}

/**
 * Routes of an owner are recognised by their metric, which otherwise means nothing: there is one route per destination. 24 bits, above the
 * metrics that people and programs choose.
 */
export function routeMetric(owner: string): number {
  let hash = 0;
  for (const character of owner) hash = (hash * 36 + Number.parseInt(character, 36)) % METRIC_RANGE;
  return METRIC_BASE + hash;
}

const METRIC_BASE = 1_000_000;
const METRIC_RANGE = 1 << 24;

/** Locally administered: the prefix that CNI plugins use, and the first address of the Pod CIDR. */
export function macOf(podCidr: string): string {
  const bytes = firstAddress(podCidr).split(".").map(Number);
  return [0x0a, 0x58, ...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

/** Pods never have it: it is the address of the network. */
function firstAddress(podCidr: string): string {
  return podCidr.split("/")[0] ?? "";
}

/** The most specific route to a node, if it has no gateway: the node is on the segment of a link. */
function onLinkRoute(address: string, facts: NodeFacts): KernelRoute | undefined {
  const route = routeTo(address, facts);
  return route === undefined || route.gateway !== undefined || route.link === facts.bridge ? undefined : route;
}

function routeTo(address: string, { routes }: NodeFacts): KernelRoute | undefined {
  const ip = parseIp(address);
  if (ip === undefined) return undefined;
  const matching = routes.flatMap((route) => {
    const cidr = parseCidr(asCidr(route.destination));
    return cidr !== undefined && cidrContains(cidr, ip) ? [{ route, prefixLength: cidr.prefixLength }] : [];
  });
  return matching.toSorted((a, b) => b.prefixLength - a.prefixLength)[0]?.route;
}

function asCidr(destination: string): string {
  if (destination === "default") return "0.0.0.0/0";
  return destination.includes("/") ? destination : `${destination}/${destination.includes(":") ? 128 : 32}`;
}

/** A machine without any network: nothing is known. */
function linkOfAddress({ routes }: NodeFacts): { readonly link?: string } {
  const byDefault = routes.find(({ destination }) => destination === "default");
  return byDefault === undefined ? {} : { link: byDefault.link };
}
