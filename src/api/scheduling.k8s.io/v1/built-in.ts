/**
 * The PriorityClasses that every cluster has, for the Pods without which it would not be one. They are made when a server starts, if they
 * are missing; no other class may have a value this high.
 * Not here: who makes them (apiserver).
 */
import type { PriorityClass } from "../../generated/scheduling.k8s.io/v1.ts";

/** Twice what a user's class may have at most (10^9): there is always room between both. */
const CRITICAL_PRIORITY = 2_000_000_000;

export const builtInPriorityClasses: readonly PriorityClass[] = [
  // Goes before all others: what a node cannot do without cannot run on another one instead.
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
