/**
 * Whether a Job ends, and why: reasons and messages are upstream's. A condition announces the end (FailureTarget, SuccessCriteriaMet) before
 * the finalizers of its Pods are removed, so that a crash in between does not change the outcome; the final condition (Failed, Complete)
 * follows when all its Pods are counted and none is terminating. Pure.
 */
import { isTrue } from "../../api/batch/v1/job/conditions.ts";
import type { JobCondition, JobSpec } from "../../api/generated/batch/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { isFailed } from "./job-pods.ts";
import type { JobState } from "./job-state.ts";
import { matchFailurePolicy } from "./pod-failure-policy.ts";
import { matchSuccessPolicy } from "./success-policy.ts";

export interface Ending {
  readonly outcome: "Complete" | "Failed";
  readonly reason: string;
  readonly message: string;
  /** Whether the status already has the announcing condition. */
  readonly isAnnounced: boolean;
}

const SECOND_MS = 1_000;
const RESTARTING_PHASES = ["Pending", "Running"];

/** Undefined if it continues, or has reached its completions, which is decided after its Pods are known (completionOf). */
export function endingOf(state: JobState, nowMs: number): Ending | undefined {
  return announced(state) ?? failJobByPolicy(state) ?? exceededLimit(state, nowMs) ?? endingByIndexes(state);
}

function announced({ status }: JobState): Ending | undefined {
  for (const [type, outcome] of [
    ["SuccessCriteriaMet", "Complete"],
    ["FailureTarget", "Failed"],
  ] as const) {
    if (!isTrue(status, type)) continue;
    const { reason = "", message = "" } = trueCondition(status.conditions, type);
    return { outcome, reason, message, isAnnounced: true };
  }
  return undefined;
}

function trueCondition(conditions: readonly JobCondition[] | undefined, type: string): Partial<JobCondition> {
  return conditions?.find((condition) => condition.type === type && condition.status === "True") ?? findCondition(conditions, type) ?? {};
}

function failed(reason: string, message: string): Ending {
  return { outcome: "Failed", reason, message, isAnnounced: false };
}

function failJobByPolicy({ spec, pods }: JobState): Ending | undefined {
  if (spec.podFailurePolicy === undefined) return undefined;
  for (const pod of pods) {
    const message = isFailed(pod, spec) ? matchFailurePolicy(spec.podFailurePolicy, pod).failJobMessage : undefined;
    if (message !== undefined) return failed("PodFailurePolicy", message);
  }
  return undefined;
}

function exceededLimit(state: JobState, nowMs: number): Ending | undefined {
  const { spec, pods } = state;
  if (state.failed > backoffLimitOf(spec) || exceedsRestarts(spec, pods)) {
    return failed("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  }
  const remainingMs = deadlineRemainingMs(state, nowMs);
  if (remainingMs === undefined || remainingMs > 0) return undefined;
  return failed("DeadlineExceeded", "Job was active longer than specified deadline");
}

function backoffLimitOf({ backoffLimit }: JobSpec): number {
  return backoffLimit ?? Infinity;
}

/** With the restart policy OnFailure the kubelet restarts containers in place: these restarts count. */
function exceedsRestarts(spec: JobSpec, pods: readonly Pod[]): boolean {
  if (spec.template.spec?.restartPolicy !== "OnFailure") return false;
  let restarts = 0;
  for (const { status } of pods) {
    if (!RESTARTING_PHASES.includes(status?.phase ?? "")) continue;
    for (const { restartCount = 0 } of status?.initContainerStatuses ?? []) restarts += restartCount;
    for (const { restartCount = 0 } of status?.containerStatuses ?? []) restarts += restartCount;
  }
  const limit = backoffLimitOf(spec);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

/** Time until activeDeadlineSeconds expires, 0 or less if it has; undefined without a deadline, or if the Job is suspended or not started. */
export function deadlineRemainingMs({ spec, status }: Pick<JobState, "spec" | "status">, nowMs: number): number | undefined {
  const startMs = status.startTime === undefined ? undefined : parseTime(status.startTime);
  if (spec.activeDeadlineSeconds === undefined || spec.suspend === true || startMs === undefined) return undefined;
  return startMs + spec.activeDeadlineSeconds * SECOND_MS - nowMs;
}

function endingByIndexes({ spec, indexes }: JobState): Ending | undefined {
  if (indexes === undefined) return undefined;
  const { completions, succeeded } = indexes;
  const failures = indexes.failed?.size ?? 0;
  if (spec.maxFailedIndexes !== undefined && failures > spec.maxFailedIndexes) {
    return failed("MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes");
  }
  if (failures > 0 && failures + succeeded.size >= completions) return failed("FailedIndexes", "Job has failed indexes");
  const message = matchSuccessPolicy(spec.successPolicy, completions, succeeded);
  return message === undefined ? undefined : { outcome: "Complete", reason: "SuccessPolicy", message, isAnnounced: false };
}

/** Whether enough Pods succeeded, and none is active. Without `completions` the first success ends it, once the other Pods have ended. */
export function completionOf({ spec, succeeded }: JobState, active: number): Ending | undefined {
  const isComplete = active === 0 && (spec.completions === undefined ? succeeded > 0 : succeeded >= spec.completions);
  if (!isComplete) return undefined;
  const message = "Reached expected number of succeeded pods";
  return { outcome: "Complete", reason: "CompletionsReached", message, isAnnounced: false };
}
