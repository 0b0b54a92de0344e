/**
 * Which Pods of a node are worth more: those of higher priority, then those that run for longer. Kept per NodeInfo, which never changes,
 * so that a Pod that looks at hundreds of nodes sorts only those that changed since the last one looked.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

/** Above every timestamp. A Pod that has not started counts as one that starts now. */
const NOT_STARTED = "~";

/** When it started, to be compared as text: the API writes all times in one form, in UTC. */
export function startOf({ pod }: PodInfo): string {
  return pod.status?.startTime ?? NOT_STARTED;
}

/** Negative: `a` is more important. Equal ones stay in the order in which they came to the node. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const startA = startOf(a);
  const startB = startOf(b);
  return startA < startB ? -1 : startA > startB ? 1 : 0;
}

interface Ranking {
  /** All Pods of the node, most important first. */
  readonly pods: readonly PodInfo[];
  /** The answer to the last question: most questions of a time are of Pods of one priority. */
  priority: number;
  below: readonly PodInfo[];
}

/** The rankings of all nodes that anybody asked for and that are still as they were. */
export class Rankings {
  readonly #rankings = new WeakMap<NodeInfo, Ranking>();

  /** The Pods of the node with a priority below this one, most important first. */
  below(priority: number, node: NodeInfo): readonly PodInfo[] {
    const known = this.#rankings.get(node);
    if (known?.priority === priority) return known.below;
    const pods = known?.pods ?? node.pods.toSorted(compareImportance);
    const first = pods.findIndex((pod) => pod.priority < priority);
    const below = first === -1 ? [] : first === 0 ? pods : pods.slice(first);
    this.#rankings.set(node, { pods, priority, below });
    return below;
  }
}
