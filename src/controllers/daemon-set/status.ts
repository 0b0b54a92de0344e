/** The counts of a DaemonSet's status, from its nodes and Pods. Pure. */
import { isAvailable, isReady } from "../../api/core/v1/pod/readiness.ts";
import type { DaemonSet, DaemonSetStatus } from "../../api/generated/apps/v1.ts";
import { bySeniority, isUpdated } from "./daemon-pod.ts";
import type { DaemonObserved } from "./node-plan.ts";

/** Zero counts are omitted, as the server stores them, except those that are always shown. */
export function daemonSetStatus({ metadata, status }: DaemonSet, seen: DaemonObserved): DaemonSetStatus {
  const { desired, current, misscheduled, ready, updated, available } = countsOf(seen);
  const shownIfAny = {
    observedGeneration: metadata.generation ?? 0,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
  const { collisionCount, conditions } = status ?? {};
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    ...Object.fromEntries(Object.entries(shownIfAny).filter(([, count]) => count !== 0)),
    ...(collisionCount === undefined ? {} : { collisionCount }),
    ...(conditions === undefined ? {} : { conditions }),
  };
}

/** Of each node the most senior Pod counts. */
function countsOf({ nodes, pods, placements, current: template, availability }: DaemonObserved) {
  const counts = { desired: 0, current: 0, misscheduled: 0, ready: 0, updated: 0, available: 0 };
  for (const node of nodes) {
    const there = pods.get(node.metadata.name);
    const pod = there === undefined || there.length === 1 ? there?.[0] : there.toSorted(bySeniority)[0];
    const isDesired = placements.on(node) === "runs";
    if (isDesired) counts.desired++;
    if (pod === undefined) continue;
    if (!isDesired) {
      counts.misscheduled++;
      continue;
    }
    counts.current++;
    if (isReady(pod)) counts.ready++;
    if (isReady(pod) && isAvailable(pod, availability)) counts.available++;
    if (isUpdated(pod, template)) counts.updated++;
  }
  return counts;
}

/** Whether a client would see the same. */
export function isSameStatus(next: DaemonSetStatus, previous: DaemonSetStatus | undefined): boolean {
  return COUNTS.every((count) => (next[count] ?? 0) === (previous?.[count] ?? 0)) && hasObserved(next, previous);
}

const COUNTS = [
  "currentNumberScheduled",
  "numberMisscheduled",
  "desiredNumberScheduled",
  "numberReady",
  "updatedNumberScheduled",
  "numberAvailable",
  "numberUnavailable",
] as const satisfies readonly (keyof DaemonSetStatus)[];

function hasObserved({ observedGeneration = 0 }: DaemonSetStatus, previous: DaemonSetStatus | undefined): boolean {
  return (previous?.observedGeneration ?? 0) >= observedGeneration;
}
