/**
 * What a ReplicaSet or a ReplicationController tells of its pods, from those that the pass saw before it acted: what it makes or removes
 * is told by the next pass, which sees it. Pure.
 */
import { availableInMs, isAvailable, isReady, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { ReplicaSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { findCondition, withCondition, withoutCondition } from "../../api/machinery/conditions.ts";
import { labelSelectorFromLabels } from "../../api/machinery/selectors/label-selector.ts";
import { deepEqual } from "../../base/deep.ts";

export interface ReplicasSeen {
  readonly active: readonly Pod[];
  /** Undefined for a kind that does not tell. */
  readonly terminating: number | undefined;
  readonly templateLabels: Readonly<Record<string, string>> | undefined;
  readonly availability: AvailabilityRule;
  /** Of the whole object, as the pass read it. */
  readonly generation: number | undefined;
  /** Why pods could not be made or removed, if it was so. */
  readonly failure: ReplicaFailure | undefined;
}

export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/** Counts of none are left out, as the server stores them, but for the two that are always shown. */
export function replicaStatus(seen: ReplicasSeen, previous: ReplicaSetStatus | undefined): ReplicaSetStatus {
  const { active, terminating, availability, generation } = seen;
  const { matches } = fullLabels(seen.templateLabels);
  const counts = {
    fullyLabeledReplicas: count(active, matches),
    readyReplicas: count(active, isReady),
    availableReplicas: count(active, (pod) => isAvailable(pod, availability)),
    observedGeneration: generation ?? 0,
  };
  const conditions = replicaConditions(seen.failure, previous?.conditions, availability.nowMs);
  return {
    replicas: active.length,
    ...Object.fromEntries(Object.entries(counts).filter(([, value]) => value > 0)),
    ...(terminating === undefined ? {} : { terminatingReplicas: terminating }),
    ...(conditions.length === 0 ? {} : { conditions }),
  };
}

function fullLabels(labels: ReplicasSeen["templateLabels"]): { matches(pod: Pod): boolean } {
  const selector = labelSelectorFromLabels(labels);
  return { matches: ({ metadata }) => selector.matches(metadata.labels) };
}

function count(pods: readonly Pod[], is: (pod: Pod) => boolean): number {
  return pods.reduce((sum, pod) => sum + Number(is(pod)), 0);
}

/** The first failure stays until one pass goes well: then since when it is so can be seen, whatever went wrong meanwhile. */
function replicaConditions(
  failure: ReplicaFailure | undefined,
  previous: ReplicaSetStatus["conditions"],
  nowMs: number,
): NonNullable<ReplicaSetStatus["conditions"]> {
  if (failure === undefined) return withoutCondition(previous, "ReplicaFailure");
  if (findCondition(previous, "ReplicaFailure") !== undefined) return previous ?? [];
  return withCondition(previous, { type: "ReplicaFailure", status: "True", ...failure }, nowMs);
}

/** Whether a client would see the same. */
export function isSameStatus(next: ReplicaSetStatus, previous: ReplicaSetStatus | undefined): boolean {
  const numbers = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"] as const;
  return (
    numbers.every((number) => (next[number] ?? 0) === (previous?.[number] ?? 0)) &&
    next.terminatingReplicas === previous?.terminatingReplicas &&
    deepEqual(next.conditions ?? [], previous?.conditions ?? [])
  );
}

/** After which time one more of these pods becomes available, if none of them changes; undefined if none does. */
export function nextAvailableInMs(active: readonly Pod[], rule: AvailabilityRule): number | undefined {
  if (rule.minReadySeconds === 0) return undefined;
  let earliestMs: number | undefined;
  for (const pod of active) {
    const remainingMs = availableInMs(pod, rule) ?? 0;
    if (remainingMs > 0 && (earliestMs === undefined || remainingMs < earliestMs)) earliestMs = remainingMs;
  }
  return earliestMs;
}
