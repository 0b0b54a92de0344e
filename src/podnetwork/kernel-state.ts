/**
 * Reads what the kernel has of a node's Pod network and computes the commands that make it equal to a plan: batches for `ip` and `bridge`.
 * Only routes with our protocol and the owner's metric, and the owner's vxlan link are touched. Pure except for `readKernel`.
 */
import type { NetworkNamespace } from "../host/network/network-namespace.ts";
import {
  ROUTE_PROTOCOL,
  routeMetric,
  vxlanLinkName,
  type KernelRoute,
  type Plan,
  type PlannedRoute,
  type Tunnel,
  type VxlanLink,
} from "./plan.ts";

export interface KernelState {
  /** Routes of others. */
  readonly routes: readonly KernelRoute[];
  readonly mtus: ReadonlyMap<string, number>;
  readonly own: OwnState;
}

export interface OwnState {
  readonly routes: readonly PlannedRoute[];
  readonly vxlan?: VxlanLink & { readonly isUp: boolean; readonly isLearning: boolean };
  readonly neighbours: readonly { readonly address: string; readonly mac: string }[];
  readonly forwarding: readonly { readonly mac: string; readonly remote: string }[];
}

/** `hasIpv6`: reads that of IPv6, too. */
export async function readKernel(
  { run }: NetworkNamespace,
  owner: string,
  { hasIpv6 }: { readonly hasIpv6: boolean },
): Promise<KernelState> {
  const link = vxlanLinkName(owner);
  const list = (...words: readonly string[]) => run("ip", ["-json", ...words]).then(parseList);
  const [links, ipv4Routes, ipv6Routes] = await Promise.all([
    list("-details", "-4", "address", "show"),
    list("-4", "route", "show"),
    hasIpv6 ? list("-6", "route", "show") : [],
  ]);
  const routes = [...ipv4Routes, ...ipv6Routes.map((route) => (route["dst"] === "default" ? { ...route, dst: "::/0" } : route))];
  const hasLink = links.some((one) => one["ifname"] === link);
  const neighboursOf = (family: string) => list(family, "neighbour", "show", "dev", link, "nud", "permanent");
  const [ipv4Neighbours, ipv6Neighbours, forwarding] = !hasLink
    ? [[], [], []]
    : await Promise.all([
        neighboursOf("-4"),
        hasIpv6 ? neighboursOf("-6") : [],
        run("bridge", ["-json", "fdb", "show", "dev", link]).then(parseList),
      ]);
  return parseKernel(owner, { links, routes, neighbours: [...ipv4Neighbours, ...ipv6Neighbours], forwarding });
}

type Entry = Readonly<Record<string, unknown>>;

/** "" is an empty list for some versions of iproute2. */
function parseList(text: string): readonly Entry[] {
  const parsed: unknown = text.trim() === "" ? [] : JSON.parse(text);
  return Array.isArray(parsed) ? parsed.filter(isEntry) : [];
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Listings {
  readonly links: readonly Entry[];
  readonly routes: readonly Entry[];
  readonly neighbours: readonly Entry[];
  readonly forwarding: readonly Entry[];
}

export function parseKernel(owner: string, { links, routes, neighbours, forwarding }: Listings): KernelState {
  const isOwn = (route: Entry): boolean => route["protocol"] === ROUTE_PROTOCOL && route["metric"] === routeMetric(owner);
  const vxlan = links.find((one) => one["ifname"] === vxlanLinkName(owner));
  return {
    routes: routes.filter((route) => route["protocol"] !== ROUTE_PROTOCOL).map(routeOf),
    mtus: new Map(links.map((one) => [text(one["ifname"]), number(one["mtu"])])),
    own: {
      routes: routes.filter(isOwn).map((route) => ({ gateway: "", ...routeOf(route) })),
      ...(vxlan === undefined ? {} : { vxlan: vxlanOf(vxlan) }),
      neighbours: neighbours.map((one) => ({ address: text(one["dst"]), mac: text(one["lladdr"]) })),
      forwarding: forwarding.map((one) => ({ mac: text(one["mac"]), remote: text(one["dst"]) })),
    },
  };
}

function routeOf(route: Entry): KernelRoute {
  const gateway = route["gateway"];
  return { destination: text(route["dst"]), link: text(route["dev"]), ...(typeof gateway === "string" ? { gateway } : {}) };
}

function vxlanOf(link: Entry): NonNullable<OwnState["vxlan"]> {
  const info = entry(entry(link["linkinfo"])["info_data"]);
  const [address = {}] = Array.isArray(link["addr_info"]) ? link["addr_info"].filter(isEntry) : [];
  const flags: readonly unknown[] = Array.isArray(link["flags"]) ? link["flags"] : [];
  return {
    link: text(link["ifname"]),
    id: number(info["id"]),
    port: number(info["port"]),
    local: text(info["local"]),
    mac: text(link["address"]),
    address: `${text(address["local"])}/${number(address["prefixlen"])}`,
    mtu: number(link["mtu"]),
    isUp: flags.includes("UP"),
    isLearning: info["learning"] !== false,
  };
}

function entry(value: unknown): Entry {
  return isEntry(value) ? value : {};
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

export interface Batches {
  /** Lines for `ip -batch -`, then for `bridge -batch -`. */
  readonly ip: readonly string[];
  readonly bridge: readonly string[];
}

/** Links before their routes; what is no longer wanted goes first, since a Pod CIDR can move to another node. */
export function batchesFor(owner: string, { own }: Pick<KernelState, "own">, plan: Plan): Batches {
  // A link with other parameters cannot be changed: it is created again, without its routes and entries.
  const keepsLink = plan.vxlan !== undefined && own.vxlan !== undefined && isSameLink(own.vxlan, plan.vxlan);
  const current: OwnState = keepsLink ? own : withoutLink(own, vxlanLinkName(owner));
  const [stale, missing] = difference(current.routes, plan.routes, routeKey);
  const fdb = forwardingChanges(vxlanLinkName(owner), current, plan.tunnels);
  return {
    ip: [
      ...stale.map((route) => `route delete ${routeWords(owner, route)}`),
      ...(own.vxlan !== undefined && !keepsLink ? [`link delete dev ${own.vxlan.link}`] : []),
      ...(plan.vxlan === undefined ? [] : linkCommands(keepsLink ? own.vxlan : undefined, plan.vxlan)),
      ...neighbourChanges(vxlanLinkName(owner), current, plan.tunnels),
      ...missing.map((route) => `route replace ${routeWords(owner, route)} onlink`),
    ],
    bridge: fdb,
  };
}

function isSameLink(present: VxlanLink & { readonly isLearning: boolean }, wanted: VxlanLink): boolean {
  return !present.isLearning && present.id === wanted.id && present.port === wanted.port && present.local === wanted.local;
}

function withoutLink({ routes }: OwnState, link: string): OwnState {
  return { routes: routes.filter((route) => route.link !== link), neighbours: [], forwarding: [] };
}

function linkCommands(present: OwnState["vxlan"], { link, id, port, local, mac, address, mtu }: VxlanLink): readonly string[] {
  const changes = [
    ...(present?.mac === mac ? [] : [`link set dev ${link} address ${mac}`]),
    ...(present?.mtu === mtu ? [] : [`link set dev ${link} mtu ${mtu}`]),
    ...(present?.address === address ? [] : [`address flush dev ${link}`, `address add ${address} dev ${link}`]),
    ...(present?.isUp === true ? [] : [`link set dev ${link} up`]),
  ];
  return present !== undefined
    ? changes
    : [`link add name ${link} type vxlan id ${id} dstport ${port} local ${local} nolearning`, ...changes];
}

function routeWords(owner: string, { destination, gateway, link }: PlannedRoute): string {
  return `${destination} via ${gateway} dev ${link} protocol ${ROUTE_PROTOCOL} metric ${routeMetric(owner)}`;
}

function routeKey({ destination, gateway, link }: PlannedRoute): string {
  return `${destination} ${gateway} ${link}`;
}

function neighbourChanges(link: string, { neighbours }: OwnState, tunnels: readonly Tunnel[]): readonly string[] {
  const wanted = tunnels.map(({ neighbour: address, mac }) => ({ address, mac }));
  const [stale, missing] = difference(neighbours, wanted, ({ address, mac }) => `${address} ${mac}`);
  return [
    ...stale.map(({ address }) => `neighbour delete ${address} dev ${link}`),
    ...missing.map(({ address, mac }) => `neighbour replace ${address} lladdr ${mac} dev ${link} nud permanent`),
  ];
}

function forwardingChanges(link: string, { forwarding }: OwnState, tunnels: readonly Tunnel[]): readonly string[] {
  // One per node, whose Pods of both families are reached by it.
  const wanted = new Map(tunnels.map(({ mac, remote }) => [mac, { mac, remote }]));
  const [stale, missing] = difference(forwarding, [...wanted.values()], ({ mac, remote }) => `${mac} ${remote}`);
  return [
    ...stale.map(({ mac, remote }) => `fdb delete ${mac} dev ${link} dst ${remote} self`),
    // Appending would keep the entry of an address that changed.
    ...missing.map(({ mac, remote }) => `fdb replace ${mac} dev ${link} dst ${remote} self permanent`),
  ];
}

/** What is only in the first, and what is only in the second. */
function difference<A, B>(present: readonly A[], wanted: readonly B[], keyOf: (one: A | B) => string): readonly [A[], B[]] {
  const has = new Set(present.map(keyOf));
  const wants = new Set(wanted.map(keyOf));
  return [present.filter((one) => !wants.has(keyOf(one))), wanted.filter((one) => !has.has(keyOf(one)))];
}
