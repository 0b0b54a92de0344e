/**
 * The contract of a command of the prompt. One file per command in commands/, listed in commands/all.ts. A command knows the cluster only
 * through the context; its mistakes are errors whose message kubectl would print.
 */
import type { Clock } from "../../base/clock.ts";
import type { Client } from "../../client/client.ts";
import type { ClusterNodes } from "../../components/simulated-nodes/simulated-nodes.ts";
import type { ClusterApi } from "../../dashboard/data/cluster-api.ts";
import type { Kind } from "../../dashboard/data/kinds.ts";
import type { CopyCluster } from "../../explain/live/try-remedies.ts";
import type { Components } from "../cluster/components.ts";

/** What all commands of one prompt share. */
export interface PromptCluster {
  readonly api: ClusterApi;
  readonly client: Client;
  readonly nodes: ClusterNodes;
  readonly components: Components;
  /** Time of the cluster. */
  readonly clock: Clock;
  /** For the trials of `why`. */
  readonly copyCluster: CopyCluster;
}

export interface CommandContext extends PromptCluster {
  /** All kinds that the cluster serves. */
  kinds(): Promise<readonly Kind[]>;
  /** Of `-n`, or the current one. */
  readonly namespace: string;
  /** The files of the prompt, by name. */
  readonly files: Map<string, string>;
  /** The text of a here-document. */
  readonly input?: string | undefined;
  /** Standard output: text without its last line break. */
  out(text: string): void;
  /** Standard error. */
  warn(text: string): void;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}

export interface Command {
  /** Words that select it: ["rollout", "status"]. */
  readonly name: readonly string[];
  /** "kubectl" is the default; others are programs of their own. */
  readonly program?: string;
  /** After the name, as in "TYPE NAME [-n NAMESPACE]". */
  readonly usage: string;
  /** One line of `help`. */
  readonly summary: string;
  /** `words`: those after the name. */
  run(words: readonly string[], context: CommandContext): Promise<void>;
}

/** Context with the namespace of a flag. */
export function within(context: CommandContext, flags: Readonly<Record<string, string>>): CommandContext {
  const { namespace } = flags;
  return namespace === undefined ? context : { ...context, namespace };
}
