/**
 * Enforces with chains of iptables and ip6tables, for machines without nft. Each change is one transaction of iptables-restore per family,
 * with the chains that changed. Not here: the rules (policy-rules.ts).
 */
import { CommandError, type NetworkNamespace } from "../../../host/network/network-namespace.ts";
import type { PolicyModel } from "../../model.ts";
import type { Enforcer, EnforcerContext, EnforcerMode } from "../enforcer.ts";
import { chainPrefix, parentChain, policyRules, type Family } from "./policy-rules.ts";

const COMMANDS = { 4: "iptables", 6: "ip6tables" } as const;
const TABLE = "mangle";
/** Other programs use the tables at the same time: waits for their lock. */
const LOCK_TIMEOUT_SECONDS = "30";

export const iptablesEnforcer: EnforcerMode = {
  name: "iptables",
  problem: (namespace) => problemOf(namespace, 4),
  open: (context) => new IptablesEnforcer(context),
  async cleanUp({ owner, namespace }) {
    for (const family of [4, 6] as const) await cleanUpFamily(namespace, owner, family);
  },
};

class IptablesEnforcer implements Enforcer {
  readonly #context: EnforcerContext;
  /** Absent: not asked yet. Machines without IPv6 have no ip6tables. */
  #families: readonly Family[] | undefined;
  readonly #applied = new Map<Family, ReadonlyMap<string, readonly string[]>>();

  constructor(context: EnforcerContext) {
    this.#context = context;
  }

  async apply(model: PolicyModel): Promise<{ readonly written: number }> {
    this.#families ??= (await problemOf(this.#context.namespace, 6)) === undefined ? [4, 6] : [4];
    let written = 0;
    for (const family of this.#families) written += await this.#applyFamily(model, family);
    return { written };
  }

  async isIntact(): Promise<boolean> {
    const { namespace, owner } = this.#context;
    for (const [family, chains] of [...this.#applied]) {
      const existing = await readChains(namespace, owner, family);
      const isComplete = existing.isJumpedTo && [...chains].every(([name, rules]) => existing.chains.get(name) === rules.length);
      if (isComplete) continue;
      this.#applied.delete(family);
      return false;
    }
    return this.#applied.size > 0;
  }

  async #applyFamily(model: PolicyModel, family: Family): Promise<number> {
    const { namespace, owner } = this.#context;
    const { chains } = policyRules(model, this.#context, family);
    const before = this.#applied.get(family);
    const existing = before === undefined ? await readChains(namespace, owner, family) : undefined;
    const names = existing === undefined ? [...(before?.keys() ?? [])] : [...existing.chains.keys()];
    const changed = [...chains].filter(([name, rules]) => !isSame(before?.get(name), rules));
    const stale = names.filter((name) => !chains.has(name));
    if (changed.length === 0 && stale.length === 0 && existing?.isJumpedTo !== false) return 0;
    this.#applied.delete(family);
    await restore(namespace, family, [
      ...changed.map(([name]) => `:${name} - [0:0]`),
      ...changed.flatMap(([name, rules]) => rules.map((rule) => `-A ${name} ${rule}`)),
      ...stale.flatMap((name) => [`-F ${name}`, `-X ${name}`]),
      ...(existing?.isJumpedTo === false ? [`-I FORWARD -j ${parentChain(owner)}`] : []),
    ]);
    this.#applied.set(family, chains);
    return changed.reduce((total, [, rules]) => total + rules.length, stale.length);
  }
}

function isSame(before: readonly string[] | undefined, rules: readonly string[]): boolean {
  return before !== undefined && before.length === rules.length && before.every((rule, index) => rule === rules[index]);
}

interface ExistingChains {
  /** Number of rules by chain of this owner. */
  readonly chains: ReadonlyMap<string, number>;
  readonly isJumpedTo: boolean;
}

async function readChains(namespace: NetworkNamespace, owner: string, family: Family): Promise<ExistingChains> {
  const lines = (await namespace.run(COMMANDS[family], ["-w", LOCK_TIMEOUT_SECONDS, "-t", TABLE, "-S"]))
    .split("\n")
    .map((line) => line.split(" "));
  const isOwn = (name = ""): boolean => name === chainPrefix(owner) || name.startsWith(`${chainPrefix(owner)}-`);
  const chains = new Map<string, number>();
  for (const [option, name = ""] of lines) {
    if (option === "-N" && isOwn(name)) chains.set(name, 0);
    if (option === "-A" && isOwn(name)) chains.set(name, (chains.get(name) ?? 0) + 1);
  }
  return { chains, isJumpedTo: lines.some((words) => words.join(" ") === `-A FORWARD -j ${parentChain(owner)}`) };
}

async function cleanUpFamily(namespace: NetworkNamespace, owner: string, family: Family): Promise<void> {
  if ((await problemOf(namespace, family)) !== undefined) return;
  const { chains, isJumpedTo } = await readChains(namespace, owner, family);
  if (chains.size === 0) return;
  await restore(namespace, family, [
    ...(isJumpedTo ? [`-D FORWARD -j ${parentChain(owner)}`] : []),
    ...[...chains.keys()].map((name) => `-F ${name}`),
    ...[...chains.keys()].map((name) => `-X ${name}`),
  ]);
}

async function restore(namespace: NetworkNamespace, family: Family, lines: readonly string[]): Promise<void> {
  const input = [`*${TABLE}`, ...lines, "COMMIT", ""].join("\n");
  await namespace.run(`${COMMANDS[family]}-restore`, ["-w", LOCK_TIMEOUT_SECONDS, "--noflush"], input);
}

async function problemOf(namespace: NetworkNamespace, family: Family): Promise<string | undefined> {
  try {
    await namespace.run(COMMANDS[family], ["-w", LOCK_TIMEOUT_SECONDS, "-t", TABLE, "-S", "FORWARD"]);
    return undefined;
  } catch (error) {
    if (error instanceof CommandError) return error.message;
    throw error;
  }
}
