/**
 * The status of a PodDisruptionBudget: expected, required and healthy Pods, and allowed disruptions. The eviction API records evicted Pods
 * in it, which then no longer count as healthy; one that still exists after a timeout was not evicted after all. Pure.
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../api/generated/policy/v1.ts";
import { isReady, timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { withCondition, type Condition } from "../../api/machinery/conditions.ts";
import { shareOf } from "../../api/number-or-percent.ts";

/** From an eviction to the time by which every component must have observed the deletion. */
const DELETION_TIMEOUT_MS = 120_000;

const ALLOWED = "DisruptionAllowed";

export interface Disrupted {
  /** Eviction times by name. */
  readonly pods: Readonly<Record<string, string>>;
  /** Overdue Pods that are not even terminating. */
  readonly overdue: readonly Pod[];
  /** When the next one is overdue, in milliseconds since the epoch. */
  readonly nextMs: number | undefined;
}

export function disruptedOf({ status }: PodDisruptionBudget, pods: readonly Pod[], nowMs: number): Disrupted {
  const evictions = status?.disruptedPods ?? {};
  const kept = new Map<string, string>();
  const overdue: Pod[] = [];
  let nextMs: number | undefined;
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    const evictedAt = Object.hasOwn(evictions, name) ? evictions[name] : undefined;
    if (evictedAt === undefined || deletionTimestamp !== undefined) continue;
    const dueMs = (timestampMs(evictedAt) ?? 0) + DELETION_TIMEOUT_MS;
    if (dueMs <= nowMs) {
      overdue.push(pod);
      continue;
    }
    kept.set(name, evictedAt);
    nextMs = Math.min(nextMs ?? dueMs, dueMs);
  }
  return { pods: Object.fromEntries(kept), overdue, nextMs };
}

export interface PodCounts {
  readonly expectedPods: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
}

/** Whether the scale of the Pods' controllers is needed. */
export function countsByScale({ maxUnavailable, minAvailable }: PodDisruptionBudgetSpec): boolean {
  return maxUnavailable !== undefined || typeof minAvailable === "string";
}

/** Percentages are rounded up in both cases, as upstream. */
export function countPods(budget: PodDisruptionBudget, pods: readonly Pod[], scale: number, disrupted: Disrupted): PodCounts {
  const { maxUnavailable, minAvailable } = budget.spec ?? {};
  const currentHealthy = pods.filter((pod) => isHealthy(pod, disrupted)).length;
  if (maxUnavailable !== undefined) {
    const desiredHealthy = Math.max(0, scale - shareOf(maxUnavailable, { of: scale, round: "up" }));
    return { expectedPods: scale, currentHealthy, desiredHealthy };
  }
  if (minAvailable === undefined) return { expectedPods: 0, currentHealthy, desiredHealthy: 0 };
  const expectedPods = typeof minAvailable === "number" ? pods.length : scale;
  return { expectedPods, currentHealthy, desiredHealthy: shareOf(minAvailable, { of: scale, round: "up" }) };
}

function isHealthy(pod: Pod, disrupted: Disrupted): boolean {
  const { name, deletionTimestamp } = pod.metadata;
  return deletionTimestamp === undefined && !Object.hasOwn(disrupted.pods, name) && isReady(pod);
}

/** A budget without Pods allows nothing, so that the first ones are safe before they are counted. */
export function budgetStatus(
  { metadata, status }: PodDisruptionBudget,
  counts: PodCounts,
  disrupted: Disrupted,
  nowMs: number,
): PodDisruptionBudgetStatus {
  const surplus = counts.currentHealthy - counts.desiredHealthy;
  const disruptionsAllowed = counts.expectedPods > 0 ? Math.max(0, surplus) : 0;
  const generation = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const word = disruptionsAllowed > 0 ? { status: "True", reason: "SufficientPods" } : { status: "False", reason: "InsufficientPods" };
  const condition = { type: ALLOWED, ...word, message: "", ...generation };
  return {
    ...generation,
    ...(Object.keys(disrupted.pods).length === 0 ? {} : { disruptedPods: disrupted.pods }),
    disruptionsAllowed,
    ...counts,
    conditions: withCondition<Condition>(status?.conditions, condition, nowMs),
  };
}

/** Nothing may be evicted while the expected number is unknown. */
export function failedStatus({ status }: PodDisruptionBudget, message: string, nowMs: number): PodDisruptionBudgetStatus {
  const generation = status?.observedGeneration === undefined ? {} : { observedGeneration: status.observedGeneration };
  const condition = { type: ALLOWED, status: "False", reason: "SyncFailed", message, ...generation };
  const counts = { currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  return { ...counts, ...status, disruptionsAllowed: 0, conditions: withCondition<Condition>(status?.conditions, condition, nowMs) };
}
