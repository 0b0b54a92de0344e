/**
 * The rules of iptables that the mode ipvs needs beside its virtual servers: masquerading and source ranges, by sets whose entries change
 * with the Services. Pure.
 */
import type { ProxyModel } from "../../model.ts";
import { setName, type KernelNames } from "./kernel-texts.ts";
import type { SetName } from "./ipvs-state.ts";

const MARK = "0x4000";
const MASQUERADE_LATER = `-j MARK --set-xmark ${MARK}/${MARK}`;

interface Hook {
  readonly table: "nat" | "filter";
  readonly chain: string;
  readonly target: string;
}

const HOOKS: readonly Hook[] = [
  { table: "nat", chain: "PREROUTING", target: "services" },
  { table: "nat", chain: "OUTPUT", target: "services" },
  { table: "nat", chain: "POSTROUTING", target: "postrouting" },
  { table: "filter", chain: "INPUT", target: "firewall" },
  { table: "filter", chain: "FORWARD", target: "forward" },
];

export interface FixedRuleOptions extends KernelNames, Pick<ProxyModel, "podCidrs"> {
  readonly masqueradesAll: boolean;
}

export function chainName(owner: string, role: string): string {
  return `${owner}-ipvs-${role}`;
}

/** Input of `iptables-restore --noflush`: the chains, and with `hooks` the rules of built-in chains that jump to them. */
export function fixedRules(options: FixedRuleOptions, { hooks }: { readonly hooks: "insert" | "keep" }): string {
  const { owner } = options;
  const rules = { nat: natRules(options), filter: filterRules(options) };
  const lines = (["nat", "filter"] as const).flatMap((table) => [
    `*${table}`,
    ...Object.keys(rules[table]).map((role) => `:${chainName(owner, role)} - [0:0]`),
    ...Object.entries(rules[table]).flatMap(([role, texts]) => texts.map((text) => `-A ${chainName(owner, role)} ${text}`)),
    ...HOOKS.filter((hook) => hook.table === table && hooks === "insert").map((hook) => `-I ${hookText(hook, owner)}`),
    "COMMIT",
  ]);
  return `${lines.join("\n")}\n`;
}

/** Fails unless the rules of the built-in chains exist. */
export function checkRules(owner: string): string {
  return commandsOnHooks(owner, "-C", []);
}

/** Removes the rules of built-in chains; `removedChains` then removes the chains. */
export function unhookRules(owner: string): string {
  return commandsOnHooks(owner, "-D", []);
}

export function removeChains(owner: string): string {
  const roles = { nat: ["services", "postrouting", "outside"], filter: ["firewall", "sources", "forward"] };
  const lines = (["nat", "filter"] as const).flatMap((table) => {
    const names = roles[table].map((role) => chainName(owner, role));
    return [`*${table}`, ...names.map((name) => `:${name} - [0:0]`), ...names.map((name) => `-X ${name}`), "COMMIT"];
  });
  return `${lines.join("\n")}\n`;
}

function commandsOnHooks(owner: string, command: string, more: readonly string[]): string {
  const lines = (["nat", "filter"] as const).flatMap((table) => [
    `*${table}`,
    ...HOOKS.filter((hook) => hook.table === table).map((hook) => `${command} ${hookText(hook, owner)}`),
    ...more,
    "COMMIT",
  ]);
  return `${lines.join("\n")}\n`;
}

function hookText({ chain, target }: Hook, owner: string): string {
  return `${chain} -m comment --comment "k8ts service proxy" -j ${chainName(owner, target)}`;
}

function natRules(options: FixedRuleOptions): Readonly<Record<string, readonly string[]>> {
  const { owner, podCidrs, family, masqueradesAll } = options;
  const ranges = podCidrs.filter((range) => range.includes(":") === (family === 6));
  const mark = masqueradesAll ? [MASQUERADE_LATER] : ranges.length > 0 ? [`-j ${chainName(owner, "outside")}`] : [];
  return {
    services: [
      ...mark.map((target) => `${inSet(options, "cip", "dst,dst")} ${target}`),
      `${inSet(options, "ext", "dst,dst")} ${MASQUERADE_LATER}`,
      `-p tcp -m addrtype --dst-type LOCAL ${inSet(options, "np-tcp", "dst")} ${MASQUERADE_LATER}`,
      `-p udp -m addrtype --dst-type LOCAL ${inSet(options, "np-udp", "dst")} ${MASQUERADE_LATER}`,
      `${inSet(options, "np-sctp", "dst,dst")} ${MASQUERADE_LATER}`,
    ],
    outside: [...ranges.map((range) => `-s ${range} -j RETURN`), MASQUERADE_LATER],
    postrouting: [
      `${inSet(options, "loop", "dst,dst,src")} -j MASQUERADE`,
      `-m mark ! --mark ${MARK}/${MARK} -j RETURN`,
      `-j MARK --set-xmark ${MARK}/0x0`,
      "-j MASQUERADE --random-fully",
    ],
  };
}

function filterRules(options: FixedRuleOptions): Readonly<Record<string, readonly string[]>> {
  return {
    firewall: [`${inSet(options, "fw", "dst,dst")} -j ${chainName(options.owner, "sources")}`],
    sources: [`${inSet(options, "src", "dst,dst,src")} -j RETURN`, "-m conntrack --ctstate NEW -j DROP"],
    forward: [`-m mark --mark ${MARK}/${MARK} -j ACCEPT`],
  };
}

function inSet(names: KernelNames, set: SetName, directions: string): string {
  return `-m set --match-set ${setName(names, set)} ${directions}`;
}
