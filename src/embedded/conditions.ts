/**
 * Conditions for `cluster.until("deployment/web", isAvailable)`: functions of an object, or of undefined while it does not exist. They
 * check what kubectl's `rollout status` and `wait` check.
 */
import type { DaemonSet, Deployment } from "../api/generated/apps/v1.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import { isConditionTrue, type ConditionLike } from "../api/machinery/conditions.ts";
import type { KubeObject } from "../api/machinery/object.ts";

type Conditioned = KubeObject & {
  readonly status?: {
    readonly conditions?: readonly (ConditionLike & { readonly reason?: string })[];
    readonly observedGeneration?: number;
  };
};

/** The controller has observed the current generation, and the condition Available is true. */
export function isAvailable(object: KubeObject | undefined): boolean {
  return isObserved(object) && isTrue(object, "Available");
}

/** A Pod, a Node, or another object with the condition Ready. */
export function isReady(object: KubeObject | undefined): boolean {
  return isTrue(object, "Ready");
}

/**
 * A Deployment, StatefulSet or DaemonSet whose Pods all have the newest template and are available, with no old ones left: `kubectl rollout
 * status`.
 */
export function isRolledOut(object: KubeObject | undefined): boolean {
  if (object === undefined || !isObserved(object)) return false;
  if (object.kind === "DaemonSet") return isOnEveryNode(object as DaemonSet);
  const { spec, status = {} } = object as Deployment;
  const wanted = spec?.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0 } = status;
  return updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted;
}

function isOnEveryNode({ status }: DaemonSet): boolean {
  const { desiredNumberScheduled: wanted = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status ?? {};
  return updatedNumberScheduled === wanted && numberAvailable === wanted;
}

export function isRunning(object: KubeObject | undefined): boolean {
  return phaseOf(object) === "Running";
}

export function isSucceeded(object: KubeObject | undefined): boolean {
  return phaseOf(object) === "Succeeded";
}

export function isFailed(object: KubeObject | undefined): boolean {
  return phaseOf(object) === "Failed";
}

/** A Pod that is bound to a node. */
export function isScheduled(object: KubeObject | undefined): boolean {
  return ((object as Pod | undefined)?.spec?.nodeName ?? "") !== "";
}

/** A Pod that is currently unschedulable. */
export function isUnschedulable(object: KubeObject | undefined): boolean {
  const conditions = conditioned(object)?.status?.conditions ?? [];
  return conditions.some(({ type, status, reason }) => type === "PodScheduled" && status === "False" && reason === "Unschedulable");
}

export function isGone(object: KubeObject | undefined): object is undefined {
  return object === undefined;
}

/** `hasCondition("Progressing")`: that condition is true. */
export function hasCondition(type: string): (object: KubeObject | undefined) => boolean {
  return (object) => isTrue(object, type);
}

function isTrue(object: KubeObject | undefined, type: string): boolean {
  return isConditionTrue(conditioned(object)?.status?.conditions, type);
}

function conditioned(object: KubeObject | undefined): Conditioned | undefined {
  return object;
}

/** The status is of the current generation. */
function isObserved(object: KubeObject | undefined): boolean {
  return (conditioned(object)?.status?.observedGeneration ?? 0) >= (object?.metadata.generation ?? 0);
}

function phaseOf(object: KubeObject | undefined): string | undefined {
  return (object as Pod | undefined)?.status?.phase;
}
