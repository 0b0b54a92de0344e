/**
 * The built-in PriorityClasses, for critical system Pods. They are created at server start if missing; no other class may have a value this
 * high. Not here: creating them (apiserver).
 */
import type { PriorityClass } from "../../generated/scheduling.k8s.io/v1.ts";

/** Twice the maximum of a user's class (10^9): leaves a gap between both. */
const CRITICAL_PRIORITY = 2_000_000_000;

export const builtInPriorityClasses: readonly PriorityClass[] = [
  // Highest priority: a node-critical Pod cannot run on another node instead.
  builtIn(
    "system-node-critical",
    CRITICAL_PRIORITY + 1_000,
    "Used for system critical pods that must not be moved from their current node.",
  ),
  builtIn(
    "system-cluster-critical",
    CRITICAL_PRIORITY,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
];

function builtIn(name: string, value: number, description: string): PriorityClass {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name },
    value,
    description,
    preemptionPolicy: "PreemptLowerPriority",
  };
}
