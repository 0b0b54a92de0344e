/**
 * Whether a Pod is active, ready and available. Every controller that maintains a number of Pods must use the same definitions, or two of
 * them would act against each other. Not here: the status cell that people see (summary.ts).
 */
import type { Pod } from "../../../generated/core/v1.ts";
import { findCondition } from "../../../machinery/conditions.ts";
import { parseTime, ZERO_TIME_MS } from "../../../machinery/time.ts";

const SECOND_MS = 1000;

/** Terminal phase: all its containers have ended and none will run again. */
export function isTerminal({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

/** True if it counts as a replica: neither finished nor terminating. */
export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isTerminal(pod);
}

/** Terminating, while its containers may still hold resources. */
export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined && !isTerminal(pod);
}

export function isReady({ status }: Pod): boolean {
  return findCondition(status?.conditions, "Ready")?.status === "True";
}

/** Milliseconds since the epoch; undefined if it is not ready, or has no transition time. */
export function readySinceMs({ status }: Pod): number | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "True" ? timestampMs(ready.lastTransitionTime) : undefined;
}

/** Undefined if absent, or Go's zero time. */
export function timestampMs(text: string | null | undefined): number | undefined {
  if (text === undefined || text === null) return undefined;
  const timeMs = parseTime(text);
  return timeMs === ZERO_TIME_MS ? undefined : timeMs;
}

export interface AvailabilityRule {
  /** How long a Pod must have been ready to be available. 0: not at all. */
  readonly minReadySeconds: number;
  readonly nowMs: number;
}

export function isAvailable(pod: Pod, rule: AvailabilityRule): boolean {
  if (rule.minReadySeconds === 0) return isReady(pod);
  const remainingMs = availableInMs(pod, rule);
  return remainingMs !== undefined && remainingMs <= 0;
}

/** Time until it is available if it stays ready, 0 or less if it is; undefined if time alone does not make it so. */
export function availableInMs(pod: Pod, { minReadySeconds, nowMs }: AvailabilityRule): number | undefined {
  const sinceMs = readySinceMs(pod);
  return sinceMs === undefined ? undefined : sinceMs + minReadySeconds * SECOND_MS - nowMs;
}
