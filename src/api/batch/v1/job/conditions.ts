/** The state of a Job from its conditions. Of duplicate conditions upstream treats the state as true if either is. */
import type { JobStatus } from "../../../generated/batch/v1.ts";

export type JobConditionType = "Suspended" | "Complete" | "Failed" | "FailureTarget" | "SuccessCriteriaMet";

export function isTrue({ conditions = [] }: JobStatus, type: JobConditionType): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "True");
}

export function isFalse({ conditions = [] }: JobStatus, type: JobConditionType): boolean {
  return conditions.some((condition) => condition.type === type && condition.status === "False");
}

export function isFinished(status: JobStatus): boolean {
  return isTrue(status, "Complete") || isTrue(status, "Failed");
}
