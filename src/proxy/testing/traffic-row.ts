/** Contract between the traffic suite, its rows and the modes that it tests. */
import type { NetworkNamespace } from "../../host/network/network-namespace.ts";
import type { Family, Traffic } from "./traffic.ts";

/** One behaviour. Runs per IP family, on an applier that still has the state of the row before it. */
export interface TrafficRow {
  readonly name: string;
  readonly families: readonly Family[];
  /** True if it reads or disturbs the kernel's state with `RulesetCommands`. */
  readonly usesRuleset?: true;
  run(traffic: Traffic, family: Family, ruleset: RulesetCommands): Promise<void>;
}

/** A program with its arguments. */
export type CommandLine = readonly [string, ...string[]];

/** How the kernel's state of a mode is read and disturbed, in the node's namespace. */
export interface RulesetCommands {
  /** Their output is everything that the mode may change, foreign rules included. */
  readonly list: readonly CommandLine[];
  /** Add rules of another program, which must survive. */
  readonly addForeign: readonly CommandLine[];
  /** Remove rules of the mode, as a firewall that is reloaded does. */
  readonly flush: readonly CommandLine[];
  /** Shell scripts that each remove one chain, rule, set or element of the mode: with a Service of a node port and one without endpoints. */
  readonly damages: readonly string[];
}

export interface TrafficSuiteOptions {
  /** Why the whole suite is skipped; of `needs`. */
  readonly skip?: string | false;
  /** Rows that this mode cannot do, by name, with the reason. */
  readonly cannot?: Readonly<Record<string, string>>;
  /** Absent: the mode keeps no state in the kernel, and rows about it are skipped. */
  readonly ruleset?: RulesetCommands;
}

/** The kernel's rules without counters, dates and the order in which chains were created. */
export async function listed(namespace: NetworkNamespace, { list }: RulesetCommands): Promise<string> {
  const outputs: string[] = [];
  for (const [command, ...words] of list) outputs.push(await namespace.run(command, words));
  const lines = outputs.join("\n").split("\n");
  return lines
    .filter((line) => !line.startsWith("#"))
    .map((line) => line.replaceAll(/\[\d+:\d+\]/g, "").trimEnd())
    .sort()
    .join("\n");
}
