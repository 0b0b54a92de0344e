/** What the conditions of a Job say of how far it is. Upstream takes one that is there twice for true if either is. */
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
