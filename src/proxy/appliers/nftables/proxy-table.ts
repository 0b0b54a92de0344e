/**
 * The nftables table of a model for one IP family. Pure. Services are found by verdict maps, whose lookup takes the same time for any
 * number of Services: address . protocol . port for addresses, protocol . port for node ports.
 */
import type { BaseChain, NftSet, NftTable } from "../../../host/network/nftables/nft-table.ts";
import { disjointCidrs } from "../../../api/machinery/ip/disjoint-cidrs.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { ProxyModel, ServiceEndpoint, ServicePort } from "../../model.ts";
import {
  anonymousSet,
  familyName,
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
import { SharedElements } from "./shared-elements.ts";

/** Changes with the declarations of base chains and shared sets. */
const LAYOUT = "layout-4";

export function tableName(owner: string): string {
  return `k8ts-${owner}-proxy`;
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

/** Computes tables of successive models; what did not change keeps its identity, and costs nothing. */
export class ProxyTables {
  readonly #family: 4 | 6;
  readonly #options: TableOptions;
  #settings: RuleSettings | undefined;
  /** Of the last model. */
  #ports = new Map<string, { readonly port: ServicePort; readonly fragment: Fragment }>();
  #shared: SharedElements;
  #ranges = new EndpointRanges();
  #chains: ReadonlyMap<string, readonly string[]> = new Map();
  #affinitySets: ReadonlyMap<string, NftSet> = new Map();
  #fixed: { readonly ranges: FixedRanges; readonly chains: ReadonlyMap<string, readonly string[]> } | undefined;

  constructor(family: 4 | 6, options: TableOptions) {
    this.#family = family;
    this.#options = options;
    this.#shared = new SharedElements(family);
  }

  table(model: ProxyModel): NftTable {
    const settings = settingsOf(model, { family: this.#family, masqueradesAll: this.#options.masqueradesAll });
    if (this.#ranges.isNearlyExhausted || !deepEqual(settings, this.#settings)) this.#forget();
    this.#settings = settings;
    this.#replacePorts(model, settings);
    this.#ranges.keep((start) => this.#shared.usesRange(start));
    return {
      family: familyName(this.#family),
      name: tableName(this.#options.owner),
      layout: LAYOUT,
      baseChains: BASE_CHAINS,
      chains: new Map([
        ...this.#fixedChains(model),
        [MASQUERADE_UNLESS_POD_CHAIN, masqueradeUnlessPod(settings)] as const,
        ...this.#chains,
      ]),
      sets: new Map<string, NftSet>([...this.#affinitySets, ...this.#shared.current()]),
    };
  }

  #forget(): void {
    this.#ports = new Map();
    this.#shared = new SharedElements(this.#family);
    this.#ranges = new EndpointRanges();
    [this.#chains, this.#affinitySets] = [new Map(), new Map()];
  }

  #replacePorts({ servicePorts }: ProxyModel, settings: RuleSettings): void {
    const [chains, affinitySets] = [new Map(this.#chains), new Map(this.#affinitySets)];
    const replace = (key: string, before: Fragment | undefined, now: Fragment | undefined): void => {
      this.#shared.replace(key, before, now);
      for (const [name] of before?.chains ?? []) chains.delete(name);
      for (const [name] of before?.affinitySets ?? []) affinitySets.delete(name);
      for (const [name, rules] of now?.chains ?? []) chains.set(name, rules);
      for (const [name, seconds] of now?.affinitySets ?? []) affinitySets.set(name, affinitySet(this.#family, seconds));
    };
    for (const [key, { fragment }] of this.#ports) {
      if (servicePorts.get(key)?.family === this.#family) continue;
      this.#ports.delete(key);
      replace(key, fragment, undefined);
    }
    for (const [key, port] of servicePorts) {
      const before = this.#ports.get(key);
      if (port.family !== this.#family || before?.port === port) continue;
      const fragment = fragmentOf(port, settings, (endpoints) => this.#ranges.of(endpoints));
      this.#ports.set(key, { port, fragment });
      replace(key, before?.fragment, fragment);
    }
    [this.#chains, this.#affinitySets] = [chains, affinitySets];
  }

  #fixedChains({ nodePortAddresses, serviceCidrs }: ProxyModel): ReadonlyMap<string, readonly string[]> {
    const ranges = { nodePortAddresses, serviceCidrs };
    if (this.#fixed === undefined || !deepEqual(this.#fixed.ranges, ranges))
      this.#fixed = { ranges, chains: fixedChains(this.#family, ranges, this.#options) };
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
  keep(isUsed: (start: number) => boolean): void {
    for (const [key, start] of this.#starts) if (!isUsed(start)) this.#starts.delete(key);
  }
}

/** Half of what the kernel's 32 bits can count, reached after months of constant changes. */
const NUMBERS_MAX = 2 ** 31;

/** Clients per endpoint that the kernel records; further ones are not kept at their endpoint. */
const CLIENTS_MAX = 65_535;

function affinitySet(family: 4 | 6, seconds: number): NftSet {
  const type = family === 4 ? "ipv4_addr" : "ipv6_addr";
  return { kind: "set", declaration: `type ${type}; size ${CLIENTS_MAX}; flags dynamic,timeout; timeout ${seconds}s;` };
}

type FixedRanges = Pick<ProxyModel, "nodePortAddresses" | "serviceCidrs">;

function fixedChains(family: 4 | 6, { nodePortAddresses, serviceCidrs }: FixedRanges, { podBridge }: TableOptions) {
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
  const ranges = serviceCidrs.filter((cidr) => cidr.includes(":") === (family === 6));
  const unused = ranges.length === 0 ? [] : [`ct state new ${ip} daddr ${anonymousSet(ranges)} drop`];
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
    ["filter-forward", [missing, ...[otherPorts, ...unused].map((rule) => `${fromPods}${rule}`)]],
    ["filter-output", [missing, otherPorts, ...unused, ...missingNodePorts]],
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
