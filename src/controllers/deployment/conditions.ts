/**
 * The conditions of a Deployment: one with the same status and reason stays unchanged, including message and times. `lastTransitionTime` is
 * when the status changed, `lastUpdateTime` when the reason did. They are ordered by type, as mostly upstream, where the last changed one
 * is last: so the result does not depend on the path.
 */
import type { DeploymentCondition } from "../../api/generated/apps/v1.ts";
import { findCondition, withoutCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";

export type Conditions = readonly DeploymentCondition[] | undefined;

export type ConditionType = "Available" | "Progressing" | "ReplicaFailure";

/** Reasons of the Progressing condition. Tools match these words. */
export const PROGRESS = {
  created: "NewReplicaSetCreated",
  found: "FoundNewReplicaSet",
  updated: "ReplicaSetUpdated",
  done: "NewReplicaSetAvailable",
  timedOut: "ProgressDeadlineExceeded",
  paused: "DeploymentPaused",
  resumed: "DeploymentResumed",
  notCreated: "ReplicaSetCreateError",
} as const;

/** Sets a condition if it differs. */
export function conditionNow(
  condition: {
    readonly type: ConditionType;
    readonly status: "True" | "False" | "Unknown";
    readonly reason: string;
    readonly message: string;
  },
  nowMs: number,
): DeploymentCondition {
  const { type, status, reason, message } = condition;
  const now = formatTime(nowMs);
  return { type, status, lastUpdateTime: now, lastTransitionTime: now, reason, message };
}

export function withConditionSet(conditions: Conditions, condition: DeploymentCondition): Conditions {
  const present = findCondition(conditions, condition.type);
  if (present?.status === condition.status && present.reason === condition.reason) return conditions;
  return withConditionReplaced(conditions, condition);
}

/** Also if it is unchanged: that something happened again is news. */
export function withConditionReplaced(conditions: Conditions, condition: DeploymentCondition): Conditions {
  const { lastTransitionTime, status } = findCondition(conditions, condition.type) ?? {};
  const isSince = status === condition.status && lastTransitionTime !== undefined;
  const others = withoutCondition(conditions, condition.type);
  return [...others, isSince ? { ...condition, lastTransitionTime } : condition].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** The same list if the type is missing. */
export function withConditionRemoved(conditions: Conditions, type: ConditionType): Conditions {
  return findCondition(conditions, type) === undefined ? conditions : withoutCondition(conditions, type);
}
