/**
 * Ranks the Pods of a node: by priority, then by start time. Cached per NodeInfo, which is immutable, so that a preemption that examines
 * hundreds of nodes sorts only the changed ones.
 */
import type { NodeInfo } from "../../framework/node-info.ts";
import type { PodInfo } from "../../framework/pod-info.ts";

/** Above every timestamp. A Pod that has not started counts as starting now. */
const NOT_STARTED = "~";

/** Start time, compared as text: the API writes all times in one format, in UTC. */
export function startOf({ pod }: PodInfo): string {
  return pod.status?.startTime ?? NOT_STARTED;
}

/** Negative: `a` is more important. Equal ones keep their order of arrival. */
function compareImportance(a: PodInfo, b: PodInfo): number {
  if (a.priority !== b.priority) return b.priority - a.priority;
  const startA = startOf(a);
  const startB = startOf(b);
  return startA < startB ? -1 : startA > startB ? 1 : 0;
}

interface Ranking {
  /** All Pods of the node, most important first. */
  readonly pods: readonly PodInfo[];
  /** Cached last result: most queries of a period have the same priority. */
  priority: number;
  below: readonly PodInfo[];
}

/** The rankings of all queried nodes that are unchanged. */
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
