/**
 * Progress of a rollout: every Pod that is created, becomes ready or available, or is deleted, is progress; without any for longer than
 * `progressDeadlineSeconds` the rollout has failed, which is reported (nothing is rolled back). While paused the deadline does not count.
 */
import type { Deployment, DeploymentCondition, DeploymentStatus, ReplicaSet, ReplicaSetCondition } from "../../api/generated/apps/v1.ts";
import { REVISION_ANNOTATION } from "../../api/apps/v1/deployment-revision.ts";
import { findCondition } from "../../api/machinery/conditions.ts";
import { parseTime } from "../../api/machinery/time.ts";
import { conditionNow, PROGRESS, withConditionRemoved, withConditionReplaced, withConditionSet, type Conditions } from "./conditions.ts";
import { allReplicaSets, type Rollout } from "./rollout.ts";
import { isComplete, observedStatus, statusWith } from "./status.ts";

/** Upstream's value for "no deadline". */
const NO_DEADLINE_SECONDS = 2 ** 31 - 1;

/** A deadline just reached has certainly passed after this margin. */
const PASSED_MS = 1;

function deadlineMsOf({ spec }: Deployment): number | undefined {
  const seconds = spec?.progressDeadlineSeconds;
  return seconds === undefined || seconds === NO_DEADLINE_SECONDS ? undefined : seconds * 1000;
}

/** The status while a rollout may be in progress. */
export function rolloutStatus(rollout: Rollout, nowMs: number): DeploymentStatus {
  const status = observedStatus(rollout, nowMs);
  const progressed = withProgress(rollout, status, nowMs);
  const failure = replicaFailure(rollout);
  const conditions = failure === undefined ? withConditionRemoved(progressed, "ReplicaFailure") : withConditionSet(progressed, failure);
  return statusWith({ ...status, conditions });
}

function withProgress(rollout: Rollout, status: DeploymentStatus, nowMs: number): Conditions {
  const { deployment } = rollout;
  const { conditions } = status;
  if (deadlineMsOf(deployment) === undefined) return withConditionRemoved(conditions, "Progressing");
  // A complete rollout stays complete, whatever happens to its Pods, as long as they are all of the new template.
  const isDone = progressingOf(deployment.status)?.reason === PROGRESS.done && (status.replicas ?? 0) === (status.updatedReplicas ?? 0);
  if (isDone) return conditions;
  if (isComplete(deployment, status)) return withConditionSet(conditions, progressing(rollout, PROGRESS.done, nowMs));
  if (hasProgressed(deployment.status ?? {}, status)) {
    // The deadline counts from the last progress, so that is updated every time.
    return withConditionReplaced(conditions, progressing(rollout, PROGRESS.updated, nowMs));
  }
  if (hasTimedOut(deployment, nowMs)) return withConditionSet(conditions, progressing(rollout, PROGRESS.timedOut, nowMs));
  return conditions;
}

function progressing({ deployment, newReplicaSet }: Rollout, reason: string, nowMs: number): DeploymentCondition {
  const what = newReplicaSet === undefined ? `Deployment "${deployment.metadata.name}"` : `ReplicaSet "${newReplicaSet.metadata.name}"`;
  const [status, rest] = PROGRESS_TEXTS.get(reason) ?? ["True", ""];
  return conditionNow({ type: "Progressing", status, reason, message: `${what} ${rest}` }, nowMs);
}

const PROGRESS_TEXTS: ReadonlyMap<string, readonly ["True" | "False", string]> = new Map([
  [PROGRESS.done, ["True", "has successfully progressed."]],
  [PROGRESS.updated, ["True", "is progressing."]],
  [PROGRESS.timedOut, ["False", "has timed out progressing."]],
]);

function hasProgressed(before: DeploymentStatus, now: DeploymentStatus): boolean {
  const grown = (["updatedReplicas", "readyReplicas", "availableReplicas"] as const).some(
    (count) => (now[count] ?? 0) > (before[count] ?? 0),
  );
  return grown || oldPodsOf(now) < oldPodsOf(before);
}

function oldPodsOf({ replicas = 0, updatedReplicas = 0 }: DeploymentStatus): number {
  return replicas - updatedReplicas;
}

function hasTimedOut(deployment: Deployment, nowMs: number): boolean {
  const condition = progressingOf(deployment.status);
  if (condition?.reason === PROGRESS.timedOut) return true;
  const deadlineMs = deadlineOf(deployment, condition);
  return deadlineMs !== undefined && deadlineMs < nowMs;
}

/** When it fails without progress; undefined if there is no deadline. */
function deadlineOf(deployment: Deployment, condition: DeploymentCondition | undefined): number | undefined {
  const deadlineMs = deadlineMsOf(deployment);
  // A complete rollout may be followed by the next one; that is counted from its own start.
  if (deadlineMs === undefined || condition === undefined || condition.reason === PROGRESS.done) return undefined;
  const sinceMs = parseTime(condition.lastUpdateTime ?? "");
  return sinceMs === undefined ? undefined : sinceMs + deadlineMs;
}

/** Delay until the deadline check; undefined if none exists. */
export function progressCheckDelayMs(deployment: Deployment, status: DeploymentStatus, nowMs: number): number | undefined {
  const condition = progressingOf(status);
  if (isComplete(deployment, status) || condition?.reason === PROGRESS.timedOut) return undefined;
  const deadlineMs = deadlineOf(deployment, condition);
  return deadlineMs === undefined ? undefined : Math.max(0, deadlineMs - nowMs) + PASSED_MS;
}

function progressingOf(status: DeploymentStatus | undefined): DeploymentCondition | undefined {
  return findCondition(status?.conditions, "Progressing");
}

/** A resumed rollout has the whole deadline again. A failed one stays failed. */
export function withPauseReported(deployment: Deployment, nowMs: number): Deployment {
  const present = progressingOf(deployment.status)?.reason;
  if (deadlineMsOf(deployment) === undefined || present === PROGRESS.timedOut) return deployment;
  const isPaused = deployment.spec?.paused === true;
  if (isPaused === (present === PROGRESS.paused)) return deployment;
  const reason = isPaused ? PROGRESS.paused : PROGRESS.resumed;
  const message = `Deployment is ${isPaused ? "paused" : "resumed"}`;
  return withProgressing(deployment, conditionNow({ type: "Progressing", status: "Unknown", reason, message }, nowMs));
}

export function withNewReplicaSetCreated(deployment: Deployment, name: string, nowMs: number): Deployment {
  return withNewReplicaSetReported(deployment, PROGRESS.created, `Created new replica set "${name}"`, nowMs);
}

/**
 * For an existing ReplicaSet: adopted, rolled back to, or created by a reconciliation that crashed before reporting. Upstream sets it only
 * if there was no condition before; then the previous condition stands until there is progress.
 */
export function withNewReplicaSetFound(deployment: Deployment, { metadata }: ReplicaSet, nowMs: number): Deployment {
  const isReported = deployment.metadata.annotations?.[REVISION_ANNOTATION] === metadata.annotations?.[REVISION_ANNOTATION];
  const isNews = progressingOf(deployment.status) === undefined || (!isReported && deployment.spec?.paused !== true);
  if (!isNews) return deployment;
  return withNewReplicaSetReported(deployment, PROGRESS.found, `Found new replica set "${metadata.name}"`, nowMs);
}

function withNewReplicaSetReported(deployment: Deployment, reason: string, message: string, nowMs: number): Deployment {
  if (deadlineMsOf(deployment) === undefined) return deployment;
  return withProgressing(deployment, conditionNow({ type: "Progressing", status: "True", reason, message }, nowMs));
}

export function withNewReplicaSetRefused(deployment: Deployment, message: string, nowMs: number): Deployment {
  if (deadlineMsOf(deployment) === undefined) return deployment;
  const reason = PROGRESS.notCreated;
  return withProgressing(deployment, conditionNow({ type: "Progressing", status: "False", reason, message }, nowMs));
}

function withProgressing(deployment: Deployment, condition: DeploymentCondition): Deployment {
  const { status } = deployment;
  return { ...deployment, status: statusWith({ ...status, conditions: withConditionSet(status?.conditions, condition) }) };
}

/** ReplicaFailure of the ReplicaSets; that of the new one first. */
function replicaFailure(rollout: Rollout): DeploymentCondition | undefined {
  const all = allReplicaSets(rollout);
  const failures = [rollout.newReplicaSet, ...all].map((one) => findCondition(one?.status?.conditions, "ReplicaFailure"));
  const failure = failures.find((condition) => condition !== undefined);
  return failure === undefined ? undefined : asDeploymentCondition(failure);
}

function asDeploymentCondition({ type, status, lastTransitionTime, reason, message }: ReplicaSetCondition): DeploymentCondition {
  return {
    type,
    status,
    ...(lastTransitionTime === undefined ? {} : { lastUpdateTime: lastTransitionTime, lastTransitionTime }),
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}
