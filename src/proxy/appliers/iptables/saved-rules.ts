/** What iptables-save prints, reduced to the chains of an owner and the rules of built-in chains that jump to them. Pure. */
import type { ChainId } from "./chain-index.ts";
import type { ChainNames } from "./chain-names.ts";
import type { Hook } from "./fixed-chains.ts";
import type { Table } from "./port-rules.ts";

export interface SavedRules {
  readonly chains: ReadonlyMap<ChainId, readonly string[]>;
  readonly hooks: readonly Hook[];
}

export function parseSavedRules(text: string, names: ChainNames): SavedRules {
  const chains = new Map<ChainId, string[]>();
  const hooks: Hook[] = [];
  let table: Table | undefined;
  for (const line of text.split("\n")) {
    if (line.startsWith("*")) table = tableOf(line.slice(1));
    if (table === undefined) continue;
    if (line.startsWith(":")) addChain(chains, table, line.slice(1, line.indexOf(" ")), names);
    if (line.startsWith("-A ")) addRule({ chains, hooks }, table, line, names);
  }
  return { chains, hooks };
}

function tableOf(name: string): Table | undefined {
  return name === "nat" || name === "filter" ? name : undefined;
}

function addChain(chains: Map<ChainId, string[]>, table: Table, name: string, names: ChainNames): void {
  if (names.isOwn(name)) chains.set(`${table} ${name}`, []);
}

function addRule(
  { chains, hooks }: { readonly chains: Map<ChainId, string[]>; readonly hooks: Hook[] },
  table: Table,
  line: string,
  names: ChainNames,
): void {
  const end = line.indexOf(" ", 3);
  if (end === -1) return; // A rule without matches and target.
  const [chain, rule] = [line.slice(3, end), line.slice(end + 1)];
  if (names.isOwn(chain)) chains.get(`${table} ${chain}`)?.push(rule);
  else if (names.isOwn(/ -j (\S+)$/.exec(line)?.[1] ?? "")) hooks.push({ table, chain, rule });
}
