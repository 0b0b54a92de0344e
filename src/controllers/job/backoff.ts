/**
 * Delay before a failed Pod is replaced: 10 s, doubled by each further failure without a success in between, at most 10 minutes. The record
 * of a Job is kept in memory and restored from its Pods after a restart, as far as they still exist; with `backoffLimitPerIndex` the count is
 * in an annotation of the Pods.
 */
import type { JobSpec } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { finishedAtMs, ignoredIndexFailuresOf, indexFailuresOf, isFailed, isSucceeded, isTracked } from "./job-pods.ts";

const BACKOFF_MIN_MS = 10_000;
const BACKOFF_MAX_MS = 600_000;

export interface Backoff {
  /** Since the last success. */
  readonly failures: number;
  /** Meaningless without failures. */
  readonly lastFailureMs: number;
}

export const NO_BACKOFF: Backoff = { failures: 0, lastFailureMs: 0 };

/** Pods that finished and are not counted yet. */
export interface NewlyFinished {
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
}

export function nextBackoff(previous: Backoff, { newSucceeded, newFailed }: NewlyFinished): Backoff {
  if (newFailed.length === 0) return newSucceeded.length === 0 ? previous : NO_BACKOFF;
  const failedMs = newFailed.map(finishedAtMs);
  if (newSucceeded.length === 0) return { failures: previous.failures + failedMs.length, lastFailureMs: Math.max(...failedMs) };
  const successMs = Math.max(...newSucceeded.map(finishedAtMs));
  const since = failedMs.filter((timeMs) => timeMs > successMs);
  return since.length === 0 ? NO_BACKOFF : { failures: since.length, lastFailureMs: Math.max(...since) };
}

/** From all Pods of the Job that exist. Surplus Pods that the controller deletes itself are terminating and no longer tracked. */
export function restoredBackoff(pods: readonly Pod[], spec: JobSpec): Backoff {
  const newFailed = pods.filter((pod) => (isTracked(pod) ? isFailed(pod, spec) : pod.status?.phase === "Failed"));
  return nextBackoff(NO_BACKOFF, { newSucceeded: pods.filter(isSucceeded), newFailed });
}

/** Time until a Pod may be created; 0 if it may be now. */
export function backoffRemainingMs({ failures, lastFailureMs }: Backoff, nowMs: number): number {
  if (failures === 0) return 0;
  // The exponent is limited, since a Job may fail thousands of times.
  const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** Math.min(failures - 1, 10));
  return Math.max(0, lastFailureMs + delayMs - nowMs);
}

/** The same for one index, whose last failed Pod is given. */
export function indexBackoffRemainingMs(lastFailed: Pod | undefined, nowMs: number): number {
  if (lastFailed === undefined) return 0;
  const failures = indexFailuresOf(lastFailed) + ignoredIndexFailuresOf(lastFailed) + 1;
  return backoffRemainingMs({ failures, lastFailureMs: finishedAtMs(lastFailed) }, nowMs);
}
