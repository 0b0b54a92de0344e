/** The status of a StatefulSet, from its Pods. Pure. */
import { isAvailable, isReady, type AvailabilityRule } from "../../api/core/v1/pod/readiness.ts";
import type { StatefulSet, StatefulSetStatus } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { revisionOf } from "./identity.ts";
import { desiredReplicas } from "./ordinals.ts";

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === "Running" && isReady(pod);
}

export interface StatusFacts {
  readonly set: StatefulSet;
  /** Members of the set, terminating ones included. */
  readonly pods: readonly Pod[];
  readonly current: string;
  readonly update: string;
  readonly collisionCount: number;
  readonly availability: AvailabilityRule;
  /** Pods of the current revision that were just deleted for the update. */
  readonly deletedForUpdate: number;
}

/** Zero counts are omitted, as the server stores them, except those that are always shown. */
export function statefulSetStatus(facts: StatusFacts): StatefulSetStatus {
  const { set, pods, collisionCount } = facts;
  const counts = completed(set, countsOf(facts));
  const { availableReplicas, currentReplicas, readyReplicas, updatedReplicas, currentRevision, updateRevision } = counts;
  const shownIfAny = { currentReplicas, readyReplicas, updatedReplicas };
  const { conditions } = set.status ?? {};
  return {
    observedGeneration: set.metadata.generation ?? 0,
    replicas: pods.length,
    ...Object.fromEntries(Object.entries(shownIfAny).filter(([, count]) => count !== 0)),
    currentRevision,
    updateRevision,
    collisionCount,
    ...(conditions === undefined ? {} : { conditions }),
    availableReplicas,
  };
}

interface Counts {
  readonly replicas: number;
  readonly readyReplicas: number;
  readonly availableReplicas: number;
  readonly currentReplicas: number;
  readonly updatedReplicas: number;
  readonly currentRevision: string;
  readonly updateRevision: string;
}

function countsOf({ pods, current, update, availability, deletedForUpdate }: StatusFacts): Counts {
  const live = pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const ready = pods.filter(isRunningAndReady);
  return {
    replicas: pods.length,
    readyReplicas: ready.length,
    availableReplicas: ready.filter((pod) => isAvailable(pod, availability)).length,
    currentReplicas: Math.max(0, live.filter((pod) => revisionOf(pod) === current).length - deletedForUpdate),
    updatedReplicas: live.filter((pod) => revisionOf(pod) === update).length,
    currentRevision: current,
    updateRevision: update,
  };
}

/** A rolling update whose Pods are all updated and ready is complete: its revision is the current one. */
function completed(set: StatefulSet, counts: Counts): Counts {
  const wanted = desiredReplicas(set);
  const isComplete = [counts.updatedReplicas, counts.readyReplicas, counts.replicas].every((count) => count === wanted);
  if (!isComplete || set.spec?.updateStrategy?.type !== "RollingUpdate") return counts;
  return { ...counts, currentReplicas: counts.updatedReplicas, currentRevision: counts.updateRevision };
}

/** Whether a client would see the same. */
export function isSameStatus(next: StatefulSetStatus, previous: StatefulSetStatus | undefined): boolean {
  const counts = ["replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas", "collisionCount"] as const;
  return (
    (next.observedGeneration ?? 0) <= (previous?.observedGeneration ?? 0) &&
    next.currentRevision === previous?.currentRevision &&
    next.updateRevision === previous?.updateRevision &&
    counts.every((count) => (next[count] ?? 0) === (previous?.[count] ?? 0))
  );
}
