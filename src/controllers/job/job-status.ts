/** Conditions, times and Pod counts in the status of a Job. Reasons and messages are upstream's. Pure. */
import type { JobCondition, JobSpec, JobStatus } from "../../api/generated/batch/v1.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { countOf } from "./counting.ts";
import type { Ending } from "./ending.ts";

export interface PodCounts {
  readonly active: number;
  readonly ready: number;
  readonly terminating: number;
}

/** The Job starts when it is first reconciled and not suspended. */
export function withStartTime(status: JobStatus, { suspend }: JobSpec, nowMs: number): JobStatus {
  return status.startTime !== undefined || suspend === true ? status : { ...status, startTime: formatTime(nowMs) };
}

export function withPodCounts(status: JobStatus, { active, ready, terminating }: PodCounts): JobStatus {
  const { active: _active, ...others } = status;
  return { ...others, ...countOf("active", active), ready, terminating };
}

/** Undefined if nothing changes. The start time is reset, since `activeDeadlineSeconds` limits the time that a Job runs continuously. */
export function withSuspension(status: JobStatus, { suspend = false }: JobSpec, nowMs: number): JobStatus | undefined {
  const condition = suspend
    ? { type: "Suspended", status: "True", reason: "JobSuspended", message: "Job suspended" }
    : { type: "Suspended", status: "False", reason: "JobResumed", message: "Job resumed" };
  const conditions = withJobCondition(status.conditions, condition, nowMs);
  if (conditions === undefined) return undefined;
  const { startTime: _startTime, ...others } = status;
  return { ...others, conditions, ...(suspend ? {} : { startTime: formatTime(nowMs) }) };
}

/** Announces the end, unless it was announced before. */
export function withAnnouncement(status: JobStatus, ending: Ending | undefined, nowMs: number): JobStatus {
  if (ending === undefined || ending.isAnnounced) return status;
  const type = ending.outcome === "Complete" ? "SuccessCriteriaMet" : "FailureTarget";
  return { ...status, ...conditionsWith(status, type, ending, nowMs) };
}

export function withOutcome(status: JobStatus, ending: Ending, nowMs: number): JobStatus {
  const completed = ending.outcome === "Complete" ? { completionTime: formatTime(nowMs) } : {};
  return { ...status, ...conditionsWith(status, ending.outcome, ending, nowMs), ...completed };
}

function conditionsWith(
  status: JobStatus,
  type: "SuccessCriteriaMet" | "FailureTarget" | Ending["outcome"],
  { reason, message }: Ending,
  nowMs: number,
): Pick<JobStatus, "conditions"> {
  const conditions = withJobCondition(status.conditions, { type, status: "True", reason, message }, nowMs);
  return conditions === undefined ? {} : { conditions };
}

/** Undefined if nothing changes. A condition that does not exist is not added as False. */
function withJobCondition(
  conditions: readonly JobCondition[] | undefined,
  condition: Required<Pick<JobCondition, "type" | "status" | "reason" | "message">>,
  nowMs: number,
): readonly JobCondition[] | undefined {
  const previous = findCondition(conditions, condition.type);
  const now = formatTime(nowMs);
  const { type, status, reason, message } = condition;
  const next = { type, status, lastProbeTime: now, lastTransitionTime: now, reason, message };
  if (previous === undefined) return status === "False" ? undefined : [...(conditions ?? []), next];
  if (previous.status === status && previous.reason === reason && previous.message === message) return undefined;
  return (conditions ?? []).map((each) => (each === previous ? next : each));
}
