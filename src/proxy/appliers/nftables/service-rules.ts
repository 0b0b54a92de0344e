/**
 * The part of the table that one port of a Service has. Pure; computed once per port and settings, since ports keep their identity.
 *
 * A port has a chain for its cluster IP ("internal-…") and one for its external addresses and node port ("external-…"), which masquerade
 * where answers would otherwise bypass this node, and translate to a random endpoint. With session affinity each endpoint has a chain and a
 * set of its clients. Traffic without a usable endpoint is not translated; the maps of missing endpoints then reject or drop it.
 */
import { disjointCidrs } from "../../../api/machinery/ip/disjoint-cidrs.ts";
import { shortHash } from "../../../host/network/short-hash.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";

export interface RuleSettings {
  readonly family: 4 | 6;
  readonly masqueradesAll: boolean;
  /** Of this family. */
  readonly podCidrs: readonly string[];
}

export interface Fragment {
  readonly chains: readonly (readonly [name: string, rules: readonly string[]])[];
  /** Elements of the maps and sets of all ports; no empty lists. */
  readonly elements: readonly (readonly [set: SharedSet, elements: Elements])[];
  /** Lists of endpoints in the maps of endpoints, each from its number on. */
  readonly ranges: readonly EndpointRange[];
  /** Sets of clients, by name: the timeout in seconds. */
  readonly affinitySets: readonly (readonly [name: string, seconds: number])[];
}

export interface EndpointRange {
  readonly map: EndpointMap;
  readonly start: number;
  readonly elements: Elements;
}

/** Texts are made once per fragment: a table of 10,000 Services has 100,000 of them. */
export type Elements = readonly (readonly [key: string, value: string])[];

/** Returns the first of the numbers that the endpoints have in the maps of endpoints. */
export type AllocateRange = (endpoints: readonly ServiceEndpoint[]) => number;

/** Maps and sets that all ports share. */
export type SharedSet =
  | "cluster-ips"
  | "service-ips"
  | "external-ips"
  | "node-ports"
  | "no-endpoint-ips"
  | "no-endpoint-node-ports"
  | "firewall-ips"
  | EndpointMap
  | "hairpin";

/**
 * One per protocol: nft (1.0.6) reads the type of a map as a match of its protocol in every rule that uses it, and refuses a rule of UDP
 * with a map of TCP ports, and with it the whole transaction.
 */
export type EndpointMap = "endpoints-tcp" | "endpoints-udp" | "endpoints-sctp";

export const ENDPOINT_MAPS: Readonly<Record<ServicePort["protocol"], EndpointMap>> = {
  TCP: "endpoints-tcp",
  UDP: "endpoints-udp",
  SCTP: "endpoints-sctp",
};

/** Chains that every table has. */
export const MASQUERADE_CHAIN = "mark-for-masquerade";
export const MASQUERADE_UNLESS_POD_CHAIN = "mark-unless-pod";
export const REJECT_CHAIN = "reject-without-endpoint";

const HASH = { digits: 16 };

/** nft accepts comments of at most 128 bytes; names of Services and ports are ASCII. */
const COMMENT_LENGTH_MAX = 120;

export function fragmentOf(port: ServicePort, settings: RuleSettings, allocate: AllocateRange): Fragment {
  const hash = shortHash(port.key, HASH);
  const internal = entryOf(port, port.internalPolicy);
  const external = entryOf(port, port.externalPolicy);
  const isExternal = port.externalIps.length + port.loadBalancerIps.length > 0 || port.nodePort !== undefined;
  const translation = new Translation(port, settings, { hash, allocate });
  const chains: (readonly [string, readonly string[]])[] = [];
  if (internal.verdict === "translate")
    chains.push([`internal-${hash}`, [...internalMasquerade(settings), ...translation.to(internal.endpoints)]]);
  // Pods and the node use endpoints of all nodes also with policy Local, as upstream has it: they would do so by the cluster IP.
  const shortcut = port.externalPolicy === "Local" && isExternal && port.clusterEndpoints.length > 0 ? [`cluster-${hash}`] : [];
  for (const name of shortcut) chains.push([name, translation.to(port.clusterEndpoints)]);
  if (isExternal && (external.verdict === "translate" || shortcut.length > 0)) {
    const before =
      port.externalPolicy === "Local" ? shortcut.flatMap((chain) => localShortcut(chain, settings)) : [`jump ${MASQUERADE_CHAIN}`];
    chains.push([`external-${hash}`, [...before, ...translation.to(external.endpoints)]]);
  }
  const firewall = firewallRules(port, settings);
  if (firewall.length > 0) chains.push([`firewall-${hash}`, firewall]);
  chains.push(...translation.endpointChains);
  return {
    chains,
    elements: elementsOf(port, { hash, internal, external, names: new Set(chains.map(([name]) => name)) }),
    ranges: translation.ranges,
    affinitySets: translation.affinitySets,
  };
}

/** What happens to traffic of a policy. "drop": other nodes have endpoints. */
interface Entry {
  readonly verdict: "translate" | "reject" | "drop";
  readonly endpoints: readonly ServiceEndpoint[];
}

function entryOf({ clusterEndpoints, localEndpoints, hasEndpoints }: ServicePort, policy: "Cluster" | "Local"): Entry {
  const endpoints = policy === "Local" ? localEndpoints : clusterEndpoints;
  return { endpoints, verdict: endpoints.length > 0 ? "translate" : hasEndpoints ? "drop" : "reject" };
}

/** Answers to clients outside of the Pod network must pass this node again. Pods keep their address. */
function internalMasquerade({ masqueradesAll, podCidrs }: RuleSettings): readonly string[] {
  if (masqueradesAll) return [`jump ${MASQUERADE_CHAIN}`];
  return podCidrs.length === 0 ? [] : [`jump ${MASQUERADE_UNLESS_POD_CHAIN}`];
}

/** Rules of the chain that all ports share. */
export function masqueradeUnlessPod({ family, podCidrs }: RuleSettings): readonly string[] {
  return podCidrs.length === 0 ? [] : [`${familyName(family)} saddr != ${anonymousSet(podCidrs)} jump ${MASQUERADE_CHAIN}`];
}

function localShortcut(chain: string, { family, podCidrs }: RuleSettings): readonly string[] {
  return [
    ...(podCidrs.length === 0 ? [] : [`${familyName(family)} saddr ${anonymousSet(podCidrs)} goto ${chain}`]),
    `fib saddr type local jump ${MASQUERADE_CHAIN}`,
    `fib saddr type local goto ${chain}`,
  ];
}

function firewallRules({ sourceRanges, loadBalancerIps }: ServicePort, { family }: RuleSettings): readonly string[] {
  const ranges = disjointCidrs(sourceRanges).filter((range) => range.includes(":") === (family === 6));
  const isOpen = ranges.length === 0 || ranges.some((range) => range.endsWith("/0"));
  return isOpen || loadBalancerIps.length === 0 ? [] : [`${familyName(family)} saddr != ${anonymousSet(ranges)} drop`];
}

class Translation {
  readonly endpointChains: (readonly [string, readonly string[]])[] = [];
  readonly affinitySets: (readonly [string, number])[] = [];
  readonly ranges: EndpointRange[] = [];
  readonly #port: ServicePort;
  readonly #family: 4 | 6;
  readonly #hash: string;
  readonly #allocate: AllocateRange;
  readonly #known = new Set<string>();

  constructor(
    port: ServicePort,
    { family }: RuleSettings,
    { hash, allocate }: { readonly hash: string; readonly allocate: AllocateRange },
  ) {
    this.#port = port;
    this.#family = family;
    this.#hash = hash;
    this.#allocate = allocate;
  }

  /** Rules that translate to one of the endpoints. None without endpoints. */
  to(endpoints: readonly ServiceEndpoint[]): readonly string[] {
    if (endpoints.length === 0) return [];
    const { affinitySeconds, displayName } = this.#port;
    if (affinitySeconds === undefined)
      return [`${this.#protocol} ${this.#translate(endpoints)} comment "${displayName.slice(0, COMMENT_LENGTH_MAX)}"`];
    const chains = endpoints.map((endpoint) => this.#endpointChain(endpoint, affinitySeconds));
    return [
      ...chains.map(({ name, clients }) => `${familyName(this.#family)} saddr @${clients} goto ${name}`),
      `${random(endpoints.length)} vmap { ${chains.map(({ name }, index) => `${index} : goto ${name}`).join(", ")} }`,
    ];
  }

  #endpointChain(endpoint: ServiceEndpoint, seconds: number): { readonly name: string; readonly clients: string } {
    const hash = `${this.#hash}-${shortHash(`${endpoint.address} ${endpoint.port}`, HASH)}`;
    const name = `endpoint-${hash}`;
    // The timeout of a set cannot change, so it is part of the name.
    const clients = `clients-${seconds}-${hash}`;
    if (!this.#known.has(name)) {
      this.#known.add(name);
      this.affinitySets.push([clients, seconds]);
      const rules = [`update @${clients} { ${familyName(this.#family)} saddr }`, `${this.#protocol} ${this.#translate([endpoint])}`];
      this.endpointChains.push([name, rules]);
    }
    return { name, clients };
  }

  /** Required by nft where ports are translated. */
  get #protocol(): string {
    return `meta l4proto ${this.#port.protocol.toLowerCase()}`;
  }

  #translate(endpoints: readonly ServiceEndpoint[]): string {
    const [first] = endpoints;
    if (endpoints.length === 1 && first !== undefined)
      return `dnat to ${this.#family === 4 ? first.address : `[${first.address}]`}:${first.port}`;
    // Shared by all: the kernel searches the maps of a table one by one, so that a map per Service would take minutes with 10,000.
    const map = ENDPOINT_MAPS[this.#port.protocol];
    const start = this.#allocate(endpoints);
    const elements = endpoints.map(({ address, port }, index) => [`${start + index}`, `${address} . ${port}`] as const);
    this.ranges.push({ map, start, elements });
    return `dnat ${familyName(this.#family)} to ${random(endpoints.length)} offset ${start} map @${map}`;
  }
}

interface ElementContext {
  readonly hash: string;
  readonly internal: Entry;
  readonly external: Entry;
  readonly names: ReadonlySet<string>;
}

function elementsOf(port: ServicePort, { hash, internal, external, names }: ElementContext): Fragment["elements"] {
  const protocol = port.protocol.toLowerCase();
  const keyOf = (address: string): string => `${address} . ${protocol} . ${port.port}`;
  const externalKeys = [...port.externalIps, ...port.loadBalancerIps].map(keyOf);
  const nodePortKeys = port.nodePort === undefined ? [] : [`${protocol} . ${port.nodePort}`];
  const jump = (name: string, keys: readonly string[]) => (names.has(name) ? keys.map((key) => [key, `goto ${name}`] as const) : []);
  const missing = ({ verdict }: Entry, keys: readonly string[]) =>
    verdict === "translate" ? [] : keys.map((key) => [key, verdict === "drop" ? "drop" : `goto ${REJECT_CHAIN}`] as const);
  const local = [...port.clusterEndpoints, ...port.localEndpoints].filter(({ isLocal }) => isLocal);
  const all: Readonly<Record<Exclude<SharedSet, EndpointMap>, Elements>> = {
    "cluster-ips": jump(`internal-${hash}`, [keyOf(port.clusterIp)]),
    "service-ips": [[port.clusterIp, ""]],
    "external-ips": jump(`external-${hash}`, externalKeys),
    "node-ports": jump(`external-${hash}`, nodePortKeys),
    "no-endpoint-ips": [...missing(internal, [keyOf(port.clusterIp)]), ...missing(external, externalKeys)],
    "no-endpoint-node-ports": missing(external, nodePortKeys),
    "firewall-ips": jump(`firewall-${hash}`, port.loadBalancerIps.map(keyOf)),
    hairpin: local.map(({ address }) => [`${address} . ${address}`, ""] as const),
  };
  return Object.entries(all).filter((entry): entry is [SharedSet, Elements] => entry[1].length > 0);
}

function random(count: number): string {
  return `numgen random mod ${count}`;
}

export function familyName(family: 4 | 6): "ip" | "ip6" {
  return family === 4 ? "ip" : "ip6";
}

export function anonymousSet(values: readonly string[]): string {
  return `{ ${values.join(", ")} }`;
}

/** What of a model influences the rules of single ports. */
export function settingsOf(model: ProxyModel, { family, masqueradesAll }: Pick<RuleSettings, "family" | "masqueradesAll">): RuleSettings {
  const isOwn = (text: string): boolean => text.includes(":") === (family === 6);
  return { family, masqueradesAll, podCidrs: disjointCidrs(model.podCidrs.filter(isOwn)) };
}
