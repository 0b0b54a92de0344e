/**
 * The status of a ReplicaSet or ReplicationController, from the Pods observed before acting: what is created or deleted is reported by the
 * next reconciliation. Pure.
 */
import { availableInMs, isAvailable, isReady, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { ReplicaSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { findCondition, withCondition, withoutCondition } from "../../api/machinery/conditions.ts";
import { labelSelectorFromLabels } from "../../api/machinery/selectors/label-selector.ts";
import { deepEqual } from "../../base/deep.ts";

export interface ReplicasSeen {
  readonly active: readonly Pod[];
  /** Undefined for a kind without the field. */
  readonly terminating: number | undefined;
  readonly templateLabels: Readonly<Record<string, string>> | undefined;
  readonly availability: AvailabilityRule;
  /** Of the whole object, as it was read. */
  readonly generation: number | undefined;
  /** Failure of creation or deletion, if there was one. */
  readonly failure: ReplicaFailure | undefined;
}

export interface ReplicaFailure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly message: string;
}

/** Zero counts are omitted, as the server stores them, except the two that are always shown. */
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

/** The first failure stays until a reconciliation succeeds: so its transition time stays meaningful. */
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

/** Delay until the next of these Pods becomes available without changes; undefined if none does. */
export function nextAvailableInMs(active: readonly Pod[], rule: AvailabilityRule): number | undefined {
  if (rule.minReadySeconds === 0) return undefined;
  let earliestMs: number | undefined;
  for (const pod of active) {
    const remainingMs = availableInMs(pod, rule) ?? 0;
    if (remainingMs > 0 && (earliestMs === undefined || remainingMs < earliestMs)) earliestMs = remainingMs;
  }
  return earliestMs;
}
