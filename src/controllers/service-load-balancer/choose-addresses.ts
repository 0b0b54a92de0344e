/**
 * Chooses the load balancer addresses of one Service: addresses of nodes, or one of a range. Pure. An address and port serve one Service
 * only; the one that has them keeps them, otherwise the older Service gets them.
 */
import type { Node, Service, ServicePort } from "../../api/generated/core/v1.ts";
import { addToIp, cidrContains, cidrSize, formatIp, networkOf, parseIp, type Cidr } from "../../api/machinery/ip-address.ts";

/** The class of this controller; a Service without a class is its, too. */
export const LOAD_BALANCER_CLASS = "k8ts.io/load-balancer";

/** Upstream's label of nodes that must not receive external traffic. */
const EXCLUDED_LABEL = "node.kubernetes.io/exclude-from-external-load-balancers";

/** A Service of a large cluster does not need the address of every node. */
const NODE_ADDRESSES_MAX = 8;

/** Addresses of a range that are tried before giving up. */
const RANGE_SEARCH_MAX = 65_536n;

export interface AddressSource {
  /** Absent: addresses of nodes. */
  readonly range?: Cidr;
  readonly nodes: readonly Node[];
  /** Other Services with load balancer addresses or a claim to them. */
  readonly others: readonly Service[];
  /** Describes the process that listens on this port of an address of this machine; undefined if it is free or the address is elsewhere. */
  portUser?(address: string, port: ServicePort): string | undefined;
}

export type AddressChoice =
  | { readonly is: "chosen"; readonly addresses: readonly string[] }
  /** No address now; `why` is a sentence for an event. `mayChange`: without a change of any object, too. */
  | { readonly is: "none"; readonly why: string; readonly mayChange: boolean };

export function isLoadBalanced({ spec }: Service): boolean {
  return spec?.type === "LoadBalancer" && (spec.loadBalancerClass === undefined || spec.loadBalancerClass === LOAD_BALANCER_CLASS);
}

export function chooseAddresses(service: Service, source: AddressSource): AddressChoice {
  const conflict = (address: string): string | undefined => conflictOf(service, address, source);
  return source.range === undefined ? nodeAddresses(service, source, conflict) : rangeAddress(service, source.range, conflict);
}

type ConflictOf = (address: string) => string | undefined;

function nodeAddresses(service: Service, { nodes }: AddressSource, conflictOf: ConflictOf): AddressChoice {
  const requested = requestedAddress(service);
  const candidates = usableNodes(nodes).filter((address) => requested === undefined || address === requested);
  if (candidates.length === 0) {
    const why = requested === undefined ? "no node is ready" : `loadBalancerIP ${requested} is not the address of a ready node`;
    return { is: "none", why, mayChange: false };
  }
  const conflicts = candidates.map((address) => ({ address, why: conflictOf(address) }));
  const free = conflicts.filter(({ why }) => why === undefined).map(({ address }) => address);
  if (free.length > 0) return { is: "chosen", addresses: free.slice(0, NODE_ADDRESSES_MAX) };
  return { is: "none", why: conflicts[0]?.why ?? "", mayChange: true };
}

function usableNodes(nodes: readonly Node[]): readonly string[] {
  return nodes
    .filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined &&
        metadata.labels?.[EXCLUDED_LABEL] === undefined &&
        status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") === true,
    )
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .flatMap(({ status }) => {
      const all = status?.addresses ?? [];
      const chosen = all.find(({ type }) => type === "ExternalIP") ?? all.find(({ type }) => type === "InternalIP");
      return chosen === undefined ? [] : [chosen.address];
    });
}

function rangeAddress(service: Service, range: Cidr, conflictOf: ConflictOf): AddressChoice {
  const requested = requestedAddress(service);
  if (requested !== undefined) {
    const address = parseIp(requested);
    const why =
      address === undefined || !cidrContains(range, address)
        ? `loadBalancerIP ${requested} is not in the range of --load-balancer-range`
        : conflictOf(requested);
    return why === undefined ? { is: "chosen", addresses: [requested] } : { is: "none", why, mayChange: false };
  }
  const [present] = addressesOf(service).filter((address) => {
    const ip = parseIp(address);
    return ip !== undefined && cidrContains(range, ip) && conflictOf(address) === undefined;
  });
  if (present !== undefined) return { is: "chosen", addresses: [present] };
  const { address: first } = networkOf(range);
  const size = cidrSize(range);
  for (let offset = 0n; offset < size && offset < RANGE_SEARCH_MAX; offset++) {
    const ip = addToIp(first, offset);
    const address = ip === undefined ? undefined : formatIp(ip);
    if (address !== undefined && conflictOf(address) === undefined) return { is: "chosen", addresses: [address] };
  }
  return { is: "none", why: "all addresses of --load-balancer-range are in use for these ports", mayChange: false };
}

function requestedAddress({ spec }: Service): string | undefined {
  return spec?.loadBalancerIP === undefined || spec.loadBalancerIP === "" ? undefined : spec.loadBalancerIP;
}

/** Addresses in the Service's status. */
export function addressesOf({ status }: Service): readonly string[] {
  return status?.loadBalancer?.ingress?.flatMap(({ ip }) => (ip === undefined || ip === "" ? [] : [ip])) ?? [];
}

function conflictOf(service: Service, address: string, { others, portUser }: AddressSource): string | undefined {
  for (const port of service.spec?.ports ?? []) {
    const other = others.find((one) => claims(one, service, address) && hasPort(one, port));
    const name = `port ${port.port}/${port.protocol ?? "TCP"} of ${address}`;
    if (other !== undefined) return `${name} is used by the Service ${other.metadata.namespace}/${other.metadata.name}`;
    const user = portUser?.(address, port);
    if (user !== undefined) return `${name} is in use by ${user}`;
  }
  return undefined;
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
