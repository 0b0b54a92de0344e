/**
 * The chains that exist once per IP family, and the rules of the built-in chains that jump to them. Pure. Packets to cluster IPs are
 * translated if they come from Pods or from this machine, so that several clusters on one machine may use the same range.
 */
import { cidrsOverlap, parseCidr, type Cidr } from "../../../api/machinery/ip/ip-address.ts";
import type { ProxyModel } from "../../model.ts";
import type { ChainNames } from "./chain-names.ts";
import type { ChainId } from "./chain-index.ts";
import { MARK_CHAIN, MARK_OUTSIDE_CHAIN, podSources, REJECT_CHAIN, type Table } from "./port-rules.ts";
import { CLEAR_MARK, comment, IS_MARKED, IS_NOT_MARKED, MARK_FOR_MASQUERADE, reject, type Family } from "./rule-text.ts";

export interface FixedChainSettings extends Pick<ProxyModel, "podCidrs" | "nodePortAddresses" | "healthChecks"> {
  readonly family: Family;
  readonly names: ChainNames;
  readonly podBridge?: string;
  /** Value of route_localnet before it was set for node ports on loopback; the clean-up restores it. */
  readonly routeLocalnetBefore: string;
}

/** A rule of a built-in chain. */
export interface Hook {
  readonly table: Table;
  readonly chain: string;
  /** Without "-A" and the chain. */
  readonly rule: string;
}

const HOOKS: readonly { readonly table: Table; readonly chain: string }[] = [
  { table: "nat", chain: "PREROUTING" },
  { table: "nat", chain: "OUTPUT" },
  { table: "nat", chain: "POSTROUTING" },
  { table: "filter", chain: "INPUT" },
  { table: "filter", chain: "FORWARD" },
  { table: "filter", chain: "OUTPUT" },
];

export const TABLES: readonly Table[] = ["nat", "filter"];

const CANARY = "canary";
const CANARY_RULE = comment("k8ts service proxy: its absence makes the proxy write all rules again");
const IS_NEW = "-m conntrack --ctstate NEW";
const IS_TO_THIS_NODE = "-m addrtype --dst-type LOCAL";

/** In the comment of the rule that protects loopback addresses. */
const BEFORE = "route_localnet was ";

export function hooksOf(names: ChainNames): readonly Hook[] {
  return HOOKS.map(({ table, chain }) => ({
    table,
    chain,
    rule: `${comment("k8ts service proxy")} -j ${names.fixed(chain.toLowerCase())}`,
  }));
}

/** Chains with a rule whose absence shows that another program removed rules. */
export function canariesOf(names: ChainNames): readonly Hook[] {
  return TABLES.map((table) => ({ table, chain: names.fixed(CANARY), rule: CANARY_RULE }));
}

/** Whether node ports are served on loopback addresses, which needs the sysctl route_localnet. */
export function servesLoopback(nodePortAddresses: readonly string[]): boolean {
  const loopback = parseCidr("127.0.0.0/8");
  return nodePortAddresses.some((text) => {
    const range = parseCidr(text);
    return range !== undefined && loopback !== undefined && range.address.family === 4 && cidrsOverlap(range, loopback);
  });
}

/** The recorded value of route_localnet in a rule; undefined if it is another rule. */
export function recordedRouteLocalnet(rule: string): string | undefined {
  return new RegExp(`${BEFORE}(\\d)`).exec(rule)?.[1];
}

export function fixedChains(settings: FixedChainSettings): ReadonlyMap<ChainId, readonly string[]> {
  const { names } = settings;
  const chains = new Map<ChainId, readonly string[]>();
  const add = (table: Table, role: string, rules: readonly string[]) => chains.set(`${table} ${names.fixed(role)}`, rules);
  for (const { table, rule } of canariesOf(names)) add(table, CANARY, [rule]);
  add("nat", "prerouting", [...clusterIpJumps(settings, ""), jump(names, "externals"), ...nodePortJumps(settings, "")]);
  add("nat", "output", [jump(names, "cluster-ips"), jump(names, "externals"), ...nodePortJumps(settings, "")]);
  add("nat", "postrouting", [`${IS_NOT_MARKED} -j RETURN`, CLEAR_MARK, `${comment("masquerade")} -j MASQUERADE --random-fully`]);
  add("nat", MARK_CHAIN, [MARK_FOR_MASQUERADE]);
  add("nat", MARK_OUTSIDE_CHAIN, [...podSources(settings, settings.family).map((source) => `${source} -j RETURN`), MARK_FOR_MASQUERADE]);
  add("filter", REJECT_CHAIN, [`-p tcp ${reject("TCP", settings.family)}`, reject("other", settings.family)]);
  add("filter", "input", inputRules(settings));
  add("filter", "forward", forwardRules(settings));
  add("filter", "output", [jump(names, "cluster-ips", IS_NEW), jump(names, "externals", IS_NEW), ...nodePortJumps(settings, IS_NEW)]);
  return chains;
}

function jump(names: ChainNames, role: string, ...matches: readonly string[]): string {
  return [...matches.filter((match) => match !== ""), `-j ${names.fixed(role)}`].join(" ");
}

function clusterIpJumps({ names, podBridge }: FixedChainSettings, matches: string): readonly string[] {
  return [jump(names, "cluster-ips", podBridge === undefined ? "" : `-i ${podBridge}`, matches)];
}

/** One per range of addresses. IPv6 has no route_localnet: its loopback address cannot be translated. */
function nodePortJumps({ family, names, nodePortAddresses }: FixedChainSettings, matches: string): readonly string[] {
  const ranges = nodePortAddresses.flatMap((text) => {
    const range = parseCidr(text);
    return range?.address.family === family ? [{ text, range }] : [];
  });
  const all = family === 4 ? "" : "! -d ::1/128";
  return ranges.map(({ text, range }) => jump(names, "node-ports", isEverything(range) ? all : `-d ${text}`, IS_TO_THIS_NODE, matches));
}

function isEverything({ prefixLength }: Cidr): boolean {
  return prefixLength === 0;
}

function inputRules(settings: FixedChainSettings): readonly string[] {
  const { family, healthChecks, names, nodePortAddresses, routeLocalnetBefore } = settings;
  const rules: string[] = [];
  // With route_localnet, a neighbour could send packets to services that listen on loopback addresses only (CVE-2020-8558).
  if (family === 4 && servesLoopback(nodePortAddresses)) {
    const says = comment(`packets of others to loopback addresses; ${BEFORE}${routeLocalnetBefore}`);
    rules.push(`! -s 127.0.0.0/8 -d 127.0.0.0/8 ${says} -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP`);
  }
  rules.push(jump(names, "externals", IS_NEW), ...nodePortJumps(settings, IS_NEW));
  for (const { namespace, name, port } of healthChecks)
    rules.push(`-p tcp ${comment(`${namespace}/${name} health check node port`)} -m tcp --dport ${port} -j ACCEPT`);
  return rules;
}

/** Packets of translated connections are accepted even if the machine does not forward by default. */
function forwardRules(settings: FixedChainSettings): readonly string[] {
  const { names, podBridge } = settings;
  const fromPods = podBridge === undefined ? "" : `-i ${podBridge} `;
  return [
    // An answer that conntrack considers invalid is not translated back: its receiver would reset the connection.
    `${fromPods}-m conntrack --ctstate INVALID -j DROP`,
    ...clusterIpJumps(settings, IS_NEW),
    jump(names, "externals", IS_NEW),
    `${IS_MARKED} -j ACCEPT`,
    "-m conntrack --ctstate DNAT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT",
  ];
}
