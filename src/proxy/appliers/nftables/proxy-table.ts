/**
 * The nftables table of a model for one IP family. Pure. Services are found by verdict maps, whose lookup takes the same time for any
 * number of Services: address . protocol . port for addresses, protocol . port for node ports.
 */
import type { BaseChain, NftSet, NftTable } from "../../../host/network/nftables/nft-table.ts";
import { disjointCidrs } from "../../../api/machinery/disjoint-cidrs.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";
import {
  anonymousSet,
  ENDPOINT_MAPS,
  fragmentOf,
  MASQUERADE_CHAIN,
  MASQUERADE_UNLESS_POD_CHAIN,
  masqueradeUnlessPod,
  REJECT_CHAIN,
  settingsOf,
  type Fragment,
  type RuleSettings,
  type SharedSet,
} from "./service-rules.ts";

/** Changes with the declarations of base chains and shared sets. */
const LAYOUT = "layout-4";

export function tableName(owner: string): string {
  return `k8ts-${owner}-proxy`;
}

export function familyName(family: 4 | 6): "ip" | "ip6" {
  return family === 4 ? "ip" : "ip6";
}

/** The bit that upstream uses, for packets that are masqueraded when they leave. */
const MASQUERADE_BIT = "0x00004000";

const BASE_CHAINS: ReadonlyMap<string, BaseChain> = new Map([
  ["nat-prerouting", { declaration: "type nat hook prerouting priority dstnat; policy accept;" }],
  // Before translation: source ranges are about the client and the load balancer's address.
  ["firewall-prerouting", { declaration: "type filter hook prerouting priority dstnat - 10; policy accept;" }],
  ["firewall-output", { declaration: "type filter hook output priority -110; policy accept;" }],
  ["nat-output", { declaration: "type nat hook output priority -100; policy accept;" }],
  ["nat-postrouting", { declaration: "type nat hook postrouting priority srcnat; policy accept;" }],
  // After translation: what still has a Service's address has no endpoint.
  ["filter-input", { declaration: "type filter hook input priority filter; policy accept;" }],
  ["filter-forward", { declaration: "type filter hook forward priority filter; policy accept;" }],
  ["filter-output", { declaration: "type filter hook output priority filter; policy accept;" }],
]);

export interface TableOptions {
  readonly owner: string;
  readonly podBridge?: string | undefined;
  readonly masqueradesAll: boolean;
}

/** Computes tables of successive models and keeps what did not change. */
export class ProxyTables {
  readonly #family: 4 | 6;
  readonly #options: TableOptions;
  #settings: RuleSettings | undefined;
  #fragments = new WeakMap<ServicePort, Fragment>();
  #ranges = new EndpointRanges();
  #fixed: { readonly nodePortAddresses: readonly string[]; readonly chains: ReadonlyMap<string, readonly string[]> } | undefined;

  constructor(family: 4 | 6, options: TableOptions) {
    this.#family = family;
    this.#options = options;
  }

  table(model: ProxyModel): NftTable {
    const settings = settingsOf(model, { family: this.#family, masqueradesAll: this.#options.masqueradesAll });
    if (!deepEqual(settings, this.#settings)) this.#fragments = new WeakMap();
    if (this.#ranges.isNearlyExhausted) [this.#fragments, this.#ranges] = [new WeakMap(), new EndpointRanges()];
    this.#settings = settings;
    const chains = new Map<string, readonly string[]>([
      ...this.#fixedChains(model),
      [MASQUERADE_UNLESS_POD_CHAIN, masqueradeUnlessPod(settings)],
    ]);
    const used = new Set<number>();
    const shared = new Map(SHARED_SETS.map((name) => [name, new Map<string, string>()]));
    const sets = new Map<string, NftSet>();
    for (const port of model.servicePorts.values()) {
      if (port.family !== this.#family) continue;
      const fragment = this.#fragmentOf(port, settings);
      for (const [name, rules] of fragment.chains) chains.set(name, rules);
      for (const name of SHARED_SETS) for (const [key, value] of fragment.elements[name] ?? []) addFirst(shared.get(name), key, value);
      for (const { map, start, endpoints } of fragment.ranges) {
        used.add(start);
        const numbered = shared.get(map);
        // Equal lists of a protocol share a range.
        if (numbered?.has(`${start}`) !== false) continue;
        for (const [index, one] of endpoints.entries()) numbered.set(`${start + index}`, `${one.address} . ${one.port}`);
      }
      for (const [name, seconds] of fragment.affinitySets) sets.set(name, affinitySet(this.#family, seconds));
    }
    this.#ranges.keep(used);
    for (const [name, elements] of shared) sets.set(name, { ...declarationOf(name, this.#family), elements });
    return {
      family: familyName(this.#family),
      name: tableName(this.#options.owner),
      layout: LAYOUT,
      baseChains: BASE_CHAINS,
      chains,
      sets,
    };
  }

  #fragmentOf(port: ServicePort, settings: RuleSettings): Fragment {
    let fragment = this.#fragments.get(port);
    if (fragment === undefined)
      this.#fragments.set(port, (fragment = fragmentOf(port, settings, (endpoints) => this.#ranges.of(endpoints))));
    return fragment;
  }

  #fixedChains({ nodePortAddresses }: ProxyModel): ReadonlyMap<string, readonly string[]> {
    if (this.#fixed === undefined || !deepEqual(this.#fixed.nodePortAddresses, nodePortAddresses))
      this.#fixed = { nodePortAddresses, chains: fixedChains(this.#family, nodePortAddresses, this.#options) };
    return this.#fixed.chains;
  }
}

/**
 * Numbers of endpoints in the shared maps: consecutive for the endpoints of one list, the same for equal lists. Never used twice, so that
 * rules of a cached fragment stay right.
 */
class EndpointRanges {
  readonly #starts = new Map<string, number>();
  #next = 0;

  of(endpoints: readonly ServiceEndpoint[]): number {
    const key = endpoints.map(({ address, port }) => `${address} ${port}`).join();
    let start = this.#starts.get(key);
    if (start === undefined) {
      this.#starts.set(key, (start = this.#next));
      this.#next += endpoints.length;
    }
    return start;
  }

  get isNearlyExhausted(): boolean {
    return this.#next > NUMBERS_MAX;
  }

  /** Forgets lists that no port uses. */
  keep(used: ReadonlySet<number>): void {
    for (const [key, start] of this.#starts) if (!used.has(start)) this.#starts.delete(key);
  }
}

/** Half of what the kernel's 32 bits can count, reached after months of constant changes. */
const NUMBERS_MAX = 2 ** 31;

/** Two Services may claim one external address and port: the first by name has it. */
function addFirst(elements: Map<string, string> | undefined, key: string, value: string): void {
  if (elements?.has(key) === false) elements.set(key, value);
}

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

/** Clients per endpoint that the kernel records; further ones are not kept at their endpoint. */
const CLIENTS_MAX = 65_535;

function affinitySet(family: 4 | 6, seconds: number): NftSet {
  const type = family === 4 ? "ipv4_addr" : "ipv6_addr";
  return { kind: "set", declaration: `type ${type}; size ${CLIENTS_MAX}; flags dynamic,timeout; timeout ${seconds}s;` };
}

function fixedChains(family: 4 | 6, nodePortAddresses: readonly string[], { podBridge }: TableOptions) {
  const ip = familyName(family);
  const byAddress = (map: SharedSet): string => `${ip} daddr . meta l4proto . th dport vmap @${map}`;
  const byNodePort = (map: SharedSet): readonly string[] =>
    nodePortMatch(family, nodePortAddresses).map((match) => `${match}fib daddr type local meta l4proto . th dport vmap @${map}`);
  const external = [byAddress("external-ips"), ...byNodePort("node-ports")];
  const missing = `ct state new ${byAddress("no-endpoint-ips")}`;
  const missingNodePorts = byNodePort("no-endpoint-node-ports").map((rule) => `ct state new ${rule}`);
  const fromPods = podBridge === undefined ? "" : `iifname "${podBridge}" `;
  // Other ports and protocols of a cluster IP: the packet would leave the node by its default route, where another machine may answer it.
  const otherPorts = `ct state new ${ip} daddr @service-ips goto ${REJECT_CHAIN}`;
  return new Map<string, readonly string[]>([
    // New connections only: a reply to a connection of the node may come to the address and port of a Service.
    ["firewall-prerouting", [`ct state new ${byAddress("firewall-ips")}`]],
    ["firewall-output", [`ct state new ${byAddress("firewall-ips")}`]],
    ["nat-prerouting", [`${fromPods}${byAddress("cluster-ips")}`, ...external, `jump ${LAYOUT}`]],
    [LAYOUT, []],
    ["nat-output", [byAddress("cluster-ips"), ...external]],
    [
      "nat-postrouting",
      [
        `meta mark & ${MASQUERADE_BIT} == ${MASQUERADE_BIT} meta mark set meta mark ^ ${MASQUERADE_BIT} masquerade fully-random`,
        // A Pod that reaches itself by a Service must not see its own address as the client's: it would answer itself directly.
        `ct status dnat ${ip} saddr . ${ip} daddr @hairpin masquerade fully-random`,
      ],
    ],
    ["filter-input", [missing, ...missingNodePorts]],
    ["filter-forward", [missing, `${fromPods}${otherPorts}`]],
    ["filter-output", [missing, otherPorts, ...missingNodePorts]],
    [MASQUERADE_CHAIN, [`meta mark set meta mark | ${MASQUERADE_BIT}`]],
    // The kernel limits the rate of ICMP errors, but not that of resets.
    [REJECT_CHAIN, ["meta l4proto tcp reject with tcp reset", "reject"]],
  ]);
}

/**
 * The match of the addresses that serve node ports; nothing for none. As upstream's mode, not those of loopback: translating them needs
 * the sysctl route_localnet, which opens loopback addresses to other machines.
 */
function nodePortMatch(family: 4 | 6, addresses: readonly string[]): readonly string[] {
  const own = disjointCidrs(addresses.filter((cidr) => cidr.includes(":") === (family === 6)));
  const notLoopback = `${familyName(family)} daddr != ${family === 4 ? "127.0.0.0/8" : "::1"} `;
  if (own.some((cidr) => cidr.endsWith("/0"))) return [notLoopback];
  return own.length === 0 ? [] : [`${notLoopback}${familyName(family)} daddr ${anonymousSet(own)} `];
}
