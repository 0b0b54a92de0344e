/**
 * What a Job and its Pods amount to: counts and index sets, with Pods that finished but are not counted yet included. Everything that is
 * decided about the Job (ending.ts, pod-plan.ts, counting.ts) is decided from this value. Pure.
 */
import { isActive, isReady, isTerminating } from "../../api/core/v1/pod/readiness.ts";
import type { Job, JobSpec, JobStatus } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { IndexSet } from "./index-set.ts";
import { completionIndexOf, finishedAtMs, ignoredIndexFailuresOf, indexFailuresOf, isFailed, isSucceeded, isTracked } from "./job-pods.ts";
import { matchFailurePolicy } from "./pod-failure-policy.ts";

export interface JobState {
  readonly job: Job;
  readonly spec: JobSpec;
  readonly status: JobStatus;
  /** All that it controls. */
  readonly pods: readonly Pod[];
  readonly active: readonly Pod[];
  readonly terminating: number;
  readonly ready: number;
  /** Finished, tracked, and not in `status.uncountedTerminatedPods`. */
  readonly newSucceeded: readonly Pod[];
  readonly newFailed: readonly Pod[];
  readonly succeeded: number;
  readonly failed: number;
  /** Of an indexed Job. */
  readonly indexes: IndexState | undefined;
}

export interface IndexState {
  readonly completions: number;
  /** As `status.completedIndexes` has them. */
  readonly counted: IndexSet;
  /** With those of Pods that are not counted yet. */
  readonly succeeded: IndexSet;
  /** With `backoffLimitPerIndex`. */
  readonly failed: IndexSet | undefined;
  /** The last failed Pod of an index that awaits a new Pod: it stays until the new Pod carries its failure count. */
  readonly awaiting: ReadonlyMap<number, Pod>;
}

export function isIndexedJob({ completionMode }: JobSpec): boolean {
  return completionMode === "Indexed";
}

export function stateOf(job: Job, pods: readonly Pod[]): JobState {
  const { spec = { template: {} }, status = {} } = job;
  const active = pods.filter(isActive);
  const uncounted = {
    succeeded: new Set(status.uncountedTerminatedPods?.succeeded),
    failed: new Set(status.uncountedTerminatedPods?.failed),
  };
  const countable = pods.filter((pod) => isTracked(pod) && hasValidIndex(pod, spec));
  const newSucceeded = countable.filter(
    (pod) => isSucceeded(pod) && !uncounted.succeeded.has(uidOf(pod)) && !uncounted.failed.has(uidOf(pod)),
  );
  const newFailed = countable.filter((pod) => isFailed(pod, spec) && !uncounted.failed.has(uidOf(pod)));
  const counted = newFailed.filter((pod) => matchFailurePolicy(spec.podFailurePolicy, pod).counts);
  const indexes = isIndexedJob(spec) ? indexStateOf(spec, status, countable, active) : undefined;
  return {
    job,
    spec,
    status,
    pods,
    active,
    terminating: pods.filter(isTerminating).length,
    ready: active.filter(isReady).length,
    newSucceeded,
    newFailed,
    succeeded: indexes?.succeeded.size ?? (status.succeeded ?? 0) + newSucceeded.length + uncounted.succeeded.size,
    failed: (status.failed ?? 0) + counted.length + uncounted.failed.size,
    indexes,
  };
}

export function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}

/** Pods of an indexed Job without a valid index do not count. */
export function hasValidIndex(pod: Pod, spec: JobSpec): boolean {
  if (!isIndexedJob(spec)) return true;
  const index = completionIndexOf(pod);
  return index !== undefined && index < (spec.completions ?? 0);
}

/** `countable`: tracked, with a valid index. */
function indexStateOf(spec: JobSpec, status: JobStatus, countable: readonly Pod[], active: readonly Pod[]): IndexState {
  const completions = spec.completions ?? 0;
  const counted = IndexSet.parse(status.completedIndexes, completions);
  const succeeded = counted.union(indexesOf(countable.filter(isSucceeded)));
  if (spec.backoffLimitPerIndex === undefined) return { completions, counted, succeeded, failed: undefined, awaiting: new Map() };
  const newlyFailed = indexesOf(countable.filter((pod) => isIndexFailed(pod, spec)));
  const failed = IndexSet.parse(status.failedIndexes, completions).union(newlyFailed);
  const settled = succeeded.union(failed).union(indexesOf(active));
  return { completions, counted, succeeded, failed, awaiting: awaitingPods(countable, spec, settled) };
}

export function indexesOf(pods: readonly Pod[]): IndexSet {
  return IndexSet.of(pods.map(completionIndexOf).filter((index) => index !== undefined));
}

function isIndexFailed(pod: Pod, spec: JobSpec): boolean {
  if (!isFailed(pod, spec)) return false;
  const { action, counts } = matchFailurePolicy(spec.podFailurePolicy, pod);
  return action === "FailIndex" || (counts && indexFailuresOf(pod) >= (spec.backoffLimitPerIndex ?? 0));
}

/** By index; of several, the one with the most failures before it, and of these the last. */
function awaitingPods(countable: readonly Pod[], spec: JobSpec, settled: IndexSet): ReadonlyMap<number, Pod> {
  const awaiting = new Map<number, Pod>();
  for (const pod of countable) {
    const index = completionIndexOf(pod);
    if (index === undefined || settled.has(index) || !isFailed(pod, spec)) continue;
    const other = awaiting.get(index);
    if (other === undefined || isLaterFailure(pod, other)) awaiting.set(index, pod);
  }
  return awaiting;
}

function isLaterFailure(pod: Pod, other: Pod): boolean {
  const failuresOf = (of: Pod): number => indexFailuresOf(of) + ignoredIndexFailuresOf(of);
  return failuresOf(pod) >= failuresOf(other) && finishedAtMs(pod) >= finishedAtMs(other);
}
