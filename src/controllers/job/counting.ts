/**
 * Counts finished Pods exactly once, whatever crashes in between. A Pod holds a finalizer until it is counted:
 * 1. its uid is written to `status.uncountedTerminatedPods` (of an indexed Job, a success is written to `completedIndexes` instead),
 * 2. its finalizer is removed,
 * 3. its uid is removed from the list and the counter incremented, in one write.
 * After a crash between 1 and 2 the uid shows that it is already listed; between 2 and 3 the missing finalizer shows that it must be
 * counted. Pure; the writes are in job-controller.ts.
 */
import type { JobStatus, UncountedTerminatedPods } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Ending } from "./ending.ts";
import { completionIndexOf, isFailed, isSucceeded, isTracked } from "./job-pods.ts";
import { hasValidIndex, uidOf, type JobState } from "./job-state.ts";
import { matchFailurePolicy } from "./pod-failure-policy.ts";

/** Keeps the list below about 20 KB, and one pass short. */
export const UNCOUNTED_MAX = 500;

export interface Counting {
  /** Step 1: write this before any finalizer is removed. */
  readonly status: JobStatus;
  /** Step 2: Pods whose finalizer is removed. */
  readonly release: readonly Pod[];
  /** Pods that hold the finalizer. */
  readonly tracked: ReadonlySet<string>;
  /** More Pods are left for the next pass: the Job is not finished yet. */
  readonly isLimited: boolean;
  /** Of the rule of the Pod failure policy that matched, one per new failure. */
  readonly policyActions: readonly string[];
}

/** `status`: what this pass has changed so far. */
export function countPods(state: JobState, ending: Ending | undefined, status: JobStatus): Counting {
  const { indexes } = state;
  const tracked = state.pods.filter(isTracked);
  const held = new Set(tracked.map(uidOf));
  const cleaned = withCounted(status, held);
  const succeeded = [...(cleaned.uncountedTerminatedPods?.succeeded ?? [])];
  const failed = [...(cleaned.uncountedTerminatedPods?.failed ?? [])];
  const before = { succeeded: new Set(succeeded), failed: new Set(failed) };
  const release: Pod[] = [];
  const policyActions: string[] = [];
  let newIndexes = 0;
  let isLimited = false;
  for (const pod of indexes === undefined ? tracked : tracked.toSorted(byIndex)) {
    if (!mayRelease(state, ending, pod)) continue;
    release.push(pod);
    const uid = uidOf(pod);
    if (isSucceeded(pod) && !before.failed.has(uid)) {
      if (indexes === undefined) succeeded.push(...(before.succeeded.has(uid) ? [] : [uid]));
      else if (hasValidIndex(pod, state.spec) && !indexes.counted.has(completionIndexOf(pod) ?? -1)) newIndexes++;
    } else if (endsAsFailed(state, ending, pod) && !before.failed.has(uid)) {
      const { action, counts } = matchFailurePolicy(state.spec.podFailurePolicy, pod);
      if (action !== undefined) policyActions.push(action);
      if (counts) failed.push(uid);
    }
    isLimited = newIndexes + succeeded.length + failed.length >= UNCOUNTED_MAX;
    if (isLimited) break;
  }
  const counted = { ...cleaned, uncountedTerminatedPods: uncountedOf(succeeded, failed) };
  return { status: withIndexes(counted, state), release, tracked: held, isLimited, policyActions };
}

/** Step 3. `tracked`: uids of Pods that still hold the finalizer. */
export function withCounted(status: JobStatus, tracked: ReadonlySet<string>): JobStatus {
  const { succeeded = [], failed = [] } = status.uncountedTerminatedPods ?? {};
  const left = { succeeded: succeeded.filter((uid) => tracked.has(uid)), failed: failed.filter((uid) => tracked.has(uid)) };
  return {
    ...status,
    ...countOf("succeeded", (status.succeeded ?? 0) + succeeded.length - left.succeeded.length),
    ...countOf("failed", (status.failed ?? 0) + failed.length - left.failed.length),
    uncountedTerminatedPods: uncountedOf(left.succeeded, left.failed),
  };
}

export function hasUncounted({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus): boolean {
  return succeeded.length + failed.length > 0;
}

/** Zero is omitted, as upstream. */
export function countOf<K extends string>(name: K, count: number): { readonly [P in K]?: number } {
  return (count === 0 ? {} : { [name]: count }) as { readonly [P in K]?: number };
}

function uncountedOf(succeeded: readonly string[], failed: readonly string[]): UncountedTerminatedPods {
  return { ...(succeeded.length === 0 ? {} : { succeeded }), ...(failed.length === 0 ? {} : { failed }) };
}

function byIndex(a: Pod, b: Pod): number {
  return (completionIndexOf(a) ?? -1) - (completionIndexOf(b) ?? -1);
}

/** All when the Job ends or is deleted; otherwise finished ones, except a failed Pod whose failure count the next Pod of its index needs. */
function mayRelease({ job, spec, indexes }: JobState, ending: Ending | undefined, pod: Pod): boolean {
  if (job.metadata.deletionTimestamp !== undefined || ending !== undefined || isSucceeded(pod)) return true;
  if (!isFailed(pod, spec)) return false;
  return indexes?.awaiting.get(completionIndexOf(pod) ?? -1) !== pod;
}

/** When a Job fails, all its Pods that have not succeeded count as failed. */
function endsAsFailed({ spec }: JobState, ending: Ending | undefined, pod: Pod): boolean {
  return (isFailed(pod, spec) || ending?.outcome === "Failed") && hasValidIndex(pod, spec);
}

function withIndexes(status: JobStatus, { indexes }: JobState): JobStatus {
  if (indexes === undefined) return status;
  const { succeeded: _succeeded, completedIndexes: _completed, failedIndexes: _failed, ...others } = status;
  const text = indexes.succeeded.toString();
  return {
    ...others,
    ...countOf("succeeded", indexes.succeeded.size),
    ...(text === "" ? {} : { completedIndexes: text }),
    ...(indexes.failed === undefined ? {} : { failedIndexes: indexes.failed.toString() }),
  };
}
