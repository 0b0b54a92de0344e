/**
 * The conditions of a Deployment, by its own rules: one that says the same for the same reason stays as it is, message and times and all.
 * `lastTransitionTime` is when the status came about, `lastUpdateTime` when the reason did. They stand in the order of their types, as they
 * mostly do upstream, where the one that changed last is the last: so they are the same whichever way a Deployment came to its end.
 */
import type { DeploymentCondition } from "../../api/generated/apps/v1.ts";
import { findCondition, withoutCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";

export type Conditions = readonly DeploymentCondition[] | undefined;

export type ConditionType = "Available" | "Progressing" | "ReplicaFailure";

/** Why an update goes on, or does not. Tools look for these words. */
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

/** What is true from now on, should it be news. */
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

/** Also if it says the same: that something happened again is news. */
export function withConditionReplaced(conditions: Conditions, condition: DeploymentCondition): Conditions {
  const { lastTransitionTime, status } = findCondition(conditions, condition.type) ?? {};
  const isSince = status === condition.status && lastTransitionTime !== undefined;
  const others = withoutCondition(conditions, condition.type);
  return [...others, isSince ? { ...condition, lastTransitionTime } : condition].toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** The same list if there is none of the type. */
export function withConditionRemoved(conditions: Conditions, type: ConditionType): Conditions {
  return findCondition(conditions, type) === undefined ? conditions : withoutCondition(conditions, type);
}
