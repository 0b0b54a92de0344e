/**
 * What a Job reads from its Pods: whether they are tracked, their completion index, whether and when they finished. Pure readers of one Pod;
 * what follows from all of them is in job-state.ts.
 */
import { isSidecar } from "../../api/core/v1/pod/containers.ts";
import { isTerminating, timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { JobSpec } from "../../api/generated/batch/v1.ts";
import type { ContainerStatus, Pod } from "../../api/generated/core/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";

/** Held by a Pod until its Job has counted it: a Pod that is deleted before would be lost. */
export const TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking";
/** Annotation and label. */
export const COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index";
/** Annotations of a Pod: how often its index had failed before, for `backoffLimitPerIndex`. */
export const INDEX_FAILURES = "batch.kubernetes.io/job-index-failure-count";
export const INDEX_IGNORED_FAILURES = "batch.kubernetes.io/job-index-ignored-failure-count";

const SECOND_MS = 1_000;
const INT32_MAX = 2 ** 31 - 1;

export function isTracked({ metadata }: Pod): boolean {
  return metadata.finalizers?.includes(TRACKING_FINALIZER) === true;
}

/** Undefined if it has none. */
export function completionIndexOf({ metadata }: Pod): number | undefined {
  const text = metadata.annotations?.[COMPLETION_INDEX] ?? "";
  return /^\+?\d+$/.test(text) ? Number(text) : undefined;
}

/** Counted failures of its index before it. */
export function indexFailuresOf(pod: Pod): number {
  return readCount(pod, INDEX_FAILURES);
}

/** Failures of its index before it that the Pod failure policy ignored. */
export function ignoredIndexFailuresOf(pod: Pod): number {
  return readCount(pod, INDEX_IGNORED_FAILURES);
}

/** A user can write the annotation: nonsense is 0. */
function readCount({ metadata }: Pod, annotation: string): number {
  const text = metadata.annotations?.[annotation] ?? "";
  const count = /^\+?\d+$/.test(text) ? Number(text) : 0;
  return count > INT32_MAX ? 0 : count;
}

export function isSucceeded({ status }: Pod): boolean {
  return status?.phase === "Succeeded";
}

/** Whether a terminating Pod is replaced only once it has terminated. A Pod failure policy needs its exit codes. */
export function replacesOnlyFailed({ podReplacementPolicy, podFailurePolicy }: JobSpec): boolean {
  return podReplacementPolicy === "Failed" || podFailurePolicy !== undefined;
}

/** A terminating Pod counts as failed, since one whose node is lost never reaches the phase. */
export function isFailed(pod: Pod, spec: JobSpec): boolean {
  if (pod.status?.phase === "Failed") return true;
  return !replacesOnlyFailed(spec) && isTerminating(pod);
}

/** When its containers ended; or it was no longer ready; or its deletion was requested; or it was created. */
export function finishedAtMs(pod: Pod): number {
  return containersEndedAtMs(pod) ?? unreadySinceMs(pod) ?? deletionRequestedAtMs(pod) ?? timestampMs(pod.metadata.creationTimestamp) ?? 0;
}

/** Sidecars end after the regular containers. Undefined if one has not ended. */
function containersEndedAtMs({ spec, status }: Pod): number | undefined {
  const sidecars = new Set((spec?.initContainers ?? []).filter(isSidecar).map(({ name }) => name));
  const statuses = [
    ...(status?.containerStatuses ?? []),
    ...(status?.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  const times = statuses.map(endedAtMs);
  return times.length === 0 || times.includes(undefined) ? undefined : Math.max(...times.map((timeMs) => timeMs ?? 0));
}

function endedAtMs({ state }: ContainerStatus): number | undefined {
  return timestampMs(state?.terminated?.finishedAt);
}

function unreadySinceMs({ status }: Pod): number | undefined {
  const ready = findCondition(status?.conditions, "Ready");
  return ready?.status === "False" ? timestampMs(ready.lastTransitionTime) : undefined;
}

function deletionRequestedAtMs({ metadata }: Pod): number | undefined {
  const deletionMs = timestampMs(metadata.deletionTimestamp);
  return deletionMs === undefined ? undefined : deletionMs - (metadata.deletionGracePeriodSeconds ?? 0) * SECOND_MS;
}
