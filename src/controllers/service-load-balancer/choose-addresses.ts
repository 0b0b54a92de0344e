/**
 * Chooses the load balancer addresses of one Service: addresses of nodes, or one of a range. Pure. An address and port serve one Service
 * only; the one that has them keeps them, otherwise the older Service gets them. An address that was given is kept as long as it can carry
 * traffic: neither a node that is briefly not ready nor a process that binds the port later takes it away, since either would break
 * connections that work. Not here: other users of ports (port-users.ts).
 */
import { announcerOf } from "../../api/core/v1/service/announcer.ts";
import type { Node, Service, ServicePort } from "../../api/generated/core/v1.ts";
import {
  addToIp,
  cidrContains,
  cidrSize,
  compareIps,
  formatCidr,
  formatIp,
  lastAddressOf,
  networkOf,
  parseIp,
  type Cidr,
  type IpAddress,
} from "../../api/machinery/ip/ip-address.ts";

/** The class of this controller; a Service without a class is its, too. */
export const LOAD_BALANCER_CLASS = "k8ts.io/load-balancer";

/** Upstream's label of nodes that must not receive external traffic. */
const EXCLUDED_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";

/** Addresses in a status, which every watcher receives: clients try a few of them, and any node carries the traffic. */
const NODE_ADDRESSES_MAX = 64;

/** A node that is not ready for longer loses its addresses if another one is ready: more than the restart of a kubelet. */
const NOT_READY_GRACE_MS = 60_000;

/** Addresses of a range that are tried before giving up. */
const RANGE_SEARCH_MAX = 65_536n;

export interface AddressSource {
  /** Absent: addresses of nodes. */
  readonly range?: Cidr;
  readonly nodes: readonly Node[];
  /** Other Services with load balancer addresses or a claim to them. */
  readonly others: readonly Service[];
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** Describes what else uses this port of a node's address; undefined if it is free. */
  portUser?(address: string, port: ServicePort): string | undefined;
}

export type AddressChoice =
  | {
      readonly is: "chosen";
      readonly addresses: readonly string[];
      /** The node whose machine answers for an address of a range, if one is ready. */
      readonly announcedBy?: string;
      /** The choice may be another one after this duration, without a change of any object. */
      readonly recheckMs?: number;
    }
  /** No address now; `why` is a sentence for an event. `mayChange`: without a change of any object, too. */
  | { readonly is: "none"; readonly why: string; readonly mayChange: boolean };

export function isLoadBalanced({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer" && (spec.loadBalancerClass === undefined || spec.loadBalancerClass === LOAD_BALANCER_CLASS);
}

export function chooseAddresses(service: Service, source: AddressSource): AddressChoice {
  return source.range === undefined ? nodeAddresses(service, source) : rangeAddress(service, source.range, source);
}

interface Candidate {
  readonly address: string;
  readonly isReady: boolean;
  /** How long the node has not been ready. */
  readonly notReadyMs: number;
}

function nodeAddresses(service: Service, source: AddressSource): AddressChoice {
  const requested = requestedAddress(service);
  const held = addressesOf(service);
  const all = candidatesOf(service, source).filter(({ address }) => requested === undefined || address === requested);
  const candidates = all.filter(({ address, isReady }) => isReady || held.includes(address));
  if (candidates.length === 0) {
    const why = requested === undefined ? "no node is ready" : `loadBalancerIP ${requested} is not the address of a ready node`;
    return { is: "none", why, mayChange: false };
  }
  const conflicts = candidates.map((one) => ({ ...one, why: conflictOf(service, one.address, source) }));
  const free = conflicts.filter(({ why }) => why === undefined);
  if (free.length === 0) return { is: "none", why: conflicts[0]?.why ?? "", mayChange: true };
  const hasReady = free.some(({ isReady }) => isReady);
  const kept = free.filter(({ isReady, notReadyMs }) => isReady || !hasReady || notReadyMs < NOT_READY_GRACE_MS);
  const waiting = hasReady ? kept.filter(({ isReady }) => !isReady) : [];
  return {
    is: "chosen",
    addresses: limited(kept, held),
    ...(waiting.length === 0 ? {} : { recheckMs: Math.min(...waiting.map(({ notReadyMs }) => NOT_READY_GRACE_MS - notReadyMs)) }),
  };
}

/** At most the maximum, by name of the node; those that the Service has stay among them. */
function limited(candidates: readonly Candidate[], held: readonly string[]): readonly string[] {
  const addresses = candidates.map(({ address }) => address);
  if (addresses.length <= NODE_ADDRESSES_MAX) return addresses;
  const heldFirst = [...addresses.filter((one) => held.includes(one)), ...addresses.filter((one) => !held.includes(one))];
  const chosen = new Set(heldFirst.slice(0, NODE_ADDRESSES_MAX));
  return addresses.filter((address) => chosen.has(address));
}

/** Nodes that may receive external traffic, by name. */
function externalNodes(nodes: readonly Node[]): readonly Node[] {
  return nodes
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined && metadata.labels?.[EXCLUDED_LABEL] === undefined)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** One address per node and IP family of the Service. */
function candidatesOf(service: Service, { nodes, nowMs }: AddressSource): readonly Candidate[] {
  return externalNodes(nodes).flatMap((node) => {
    const sinceMs = Date.parse(readyCondition(node)?.lastTransitionTime ?? "");
    // A condition without a timestamp is as old as possible.
    const state = { isReady: isReady(node), notReadyMs: Number.isNaN(sinceMs) ? Infinity : nowMs - sinceMs };
    return familiesOf(service).flatMap((family) => {
      const all = (node.status?.addresses ?? []).filter(({ address }) => family === undefined || familyOf(address) === family);
      const chosen = all.find(({ type }) => type === "ExternalIP") ?? all.find(({ type }) => type === "InternalIP");
      return chosen === undefined ? [] : [{ address: chosen.address, ...state }];
    });
  });
}

/** Undefined: any. The API server sets them. */
function familiesOf({ spec }: Service): readonly (string | undefined)[] {
  return spec?.ipFamilies ?? [undefined];
}

function familyOf(address: string): "IPv4" | "IPv6" | undefined {
  const family = parseIp(address)?.family;
  return family === undefined ? undefined : `IPv${family}`;
}

function readyCondition({ status }: Node) {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

function isReady(node: Node): boolean {
  return readyCondition(node)?.status === "True";
}

function rangeAddress(service: Service, range: Cidr, source: AddressSource): AddressChoice {
  const family = `IPv${range.address.family}`;
  if (!familiesOf(service).some((one) => one === undefined || one === family)) {
    const why = `--load-balancer-range ${formatCidr(range)} has no addresses of ${familiesOf(service).join(", ")}; add ${family} to spec.ipFamilies`;
    return { is: "none", why, mayChange: false };
  }
  const conflict = (address: string): string | undefined => rangeConflictOf(service, range, address, source);
  const requested = requestedAddress(service);
  if (requested !== undefined) {
    const why = conflict(requested);
    return why === undefined ? chosenOf(requested, service, source) : { is: "none", why, mayChange: false };
  }
  const present = addressesOf(service).find((address) => conflict(address) === undefined);
  if (present !== undefined) return chosenOf(present, service, source);
  const { address: first } = networkOf(range);
  const size = cidrSize(range);
  for (let offset = 0n; offset < size && offset < RANGE_SEARCH_MAX; offset++) {
    const ip = addToIp(first, offset);
    const address = ip === undefined ? undefined : formatIp(ip);
    if (address !== undefined && conflict(address) === undefined) return chosenOf(address, service, source);
  }
  const why = `all addresses of --load-balancer-range ${formatCidr(range)} are in use for these ports; delete a Service of type LoadBalancer or set a larger range`;
  return { is: "none", why, mayChange: false };
}

function rangeConflictOf(service: Service, range: Cidr, address: string, source: AddressSource): string | undefined {
  const ip = parseIp(address);
  if (ip === undefined || !cidrContains(range, ip)) return `loadBalancerIP ${address} is not in the range of --load-balancer-range`;
  if (isReserved(range, ip)) return `loadBalancerIP ${address} is the network or broadcast address of --load-balancer-range`;
  const node = source.nodes.find(({ status }) => status?.addresses?.some((one) => one.address === address));
  if (node !== undefined) return `loadBalancerIP ${address} is the address of the node ${node.metadata.name}`;
  return serviceConflictOf(service, address, source);
}

/** The first and the last address of an IPv4 network are no host's, except in networks of two and one. */
function isReserved(range: Cidr, address: IpAddress): boolean {
  if (address.family !== 4 || cidrSize(range) <= 2n) return false;
  return compareIps(address, networkOf(range).address) === 0 || compareIps(address, lastAddressOf(networkOf(range))) === 0;
}

/** A node that announces the address stays the one while it is ready; otherwise addresses are spread over the ready nodes. */
function chosenOf(address: string, service: Service, { nodes }: AddressSource): AddressChoice {
  const ready = externalNodes(nodes)
    .filter(isReady)
    .map(({ metadata }) => metadata.name);
  const present = announcerOf(service);
  const known = nodes.some(({ metadata }) => metadata.name === present) ? present : undefined;
  const spread = ready[Number((parseIp(address)?.value ?? 0n) % BigInt(Math.max(1, ready.length)))];
  const announcedBy = present !== undefined && ready.includes(present) ? present : (spread ?? known);
  return { is: "chosen", addresses: [address], ...(announcedBy === undefined ? {} : { announcedBy }) };
}

function requestedAddress({ spec }: Service): string | undefined {
  return spec?.loadBalancerIP === undefined || spec.loadBalancerIP === "" ? undefined : spec.loadBalancerIP;
}

/** Addresses in the Service's status. */
export function addressesOf({ status }: Service): readonly string[] {
  return status?.loadBalancer?.ingress?.flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip])) ?? [];
}

function serviceConflictOf(service: Service, address: string, { others }: AddressSource): string | undefined {
  for (const port of service.spec?.ports ?? []) {
    const other = others.find((one) => claims(one, service, address) && hasPort(one, port));
    if (other !== undefined) return `${shown(address, port)} is used by the Service ${other.metadata.namespace}/${other.metadata.name}`;
  }
  return undefined;
}

function conflictOf(service: Service, address: string, source: AddressSource): string | undefined {
  const conflict = serviceConflictOf(service, address, source);
  if (conflict !== undefined) return conflict;
  for (const port of service.spec?.ports ?? []) {
    const user = holds(service, address, port) ? undefined : source.portUser?.(address, port);
    if (user !== undefined) return `${shown(address, port)} is in use by ${user}`;
  }
  return undefined;
}

function shown(address: string, { port, protocol = "TCP" }: ServicePort): string {
  return `port ${port}/${protocol} of ${address}`;
}

/** The Service has this port of the address by its status. A status without ports, of an earlier version, has all. */
function holds({ status }: Service, address: string, { port, protocol = "TCP" }: ServicePort): boolean {
  return (
    status?.loadBalancer?.ingress?.some(
      ({ ip, ports = [] }) => ip === address && (ports.length === 0 || ports.some((one) => one.port === port && one.protocol === protocol)),
    ) === true
  );
}

/** It has the address. Of two Services that both have it, after a crash between two writes, the older keeps it. */
function claims(one: Service, service: Service, address: string): boolean {
  if (!addressesOf(one).includes(address)) return false;
  return !addressesOf(service).includes(address) || isOlder(one, service);
}

function isOlder(a: Service, b: Service): boolean {
  const order = ({ metadata }: Service): string => `${metadata.creationTimestamp ?? ""} ${metadata.namespace}/${metadata.name}`;
  return order(a) < order(b);
}

function hasPort({ spec }: Service, { port, protocol = "TCP" }: ServicePort): boolean {
  return spec?.ports?.some((one) => one.port === port && (one.protocol ?? "TCP") === protocol) === true;
}
