/**
 * Pods that no kubelet will terminate: those whose Node was deleted, unscheduled terminating ones, and the oldest of too many terminated
 * ones. Pure.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { isNodeReady } from "../../api/core/v1/node/health.ts";
import { TAINT_OUT_OF_SERVICE } from "../../api/core/v1/node/taint-keys.ts";
import { nodeOf } from "../../api/core/v1/pod/by-node.ts";
import { disruptionTarget } from "../../api/core/v1/pod/disruption-target.ts";
import { isTerminal, timestampMs } from "../../api/core/v1/pod/readiness.ts";
import type { JsonObject } from "../../api/machinery/object.ts";

/** It was deleted before it was scheduled, and is held by a finalizer. */
export function isUnscheduledAndTerminating(pod: Pod): boolean {
  return isTerminating(pod) && !isVanishing(pod) && nodeOf(pod) === "";
}

/** Nothing holds it: it is about to be removed. */
function isVanishing(pod: Pod): boolean {
  return isTerminatingNow(pod) && (pod.metadata.finalizers ?? []).length === 0;
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** It is removed as soon as its finalizers are: deleting it again has no effect. */
export function isTerminatingNow(pod: Pod): boolean {
  return isTerminating(pod) && pod.metadata.deletionGracePeriodSeconds === 0;
}

/** Everything possible has been done. */
export function isDone(pod: Pod): boolean {
  return isTerminal(pod) && isTerminatingNow(pod);
}

/** The Node has the out-of-service taint, and is not ready. */
export function isOutOfService(node: Node): boolean {
  return !isNodeReady(node) && (node.spec?.taints ?? []).some(({ key }) => key === TAINT_OUT_OF_SERVICE);
}

/** The surplus of terminated Pods: evicted ones first, then the oldest. A threshold of 0 or less keeps all. */
export function surplusOf(ended: readonly Pod[], threshold: number): readonly Pod[] {
  if (threshold <= 0 || ended.length <= threshold) return [];
  return ended.toSorted(evictedAndOldFirst).slice(0, ended.length - threshold);
}

function evictedAndOldFirst(a: Pod, b: Pod): number {
  const bornAtMs = ({ metadata }: Pod): number => timestampMs(metadata.creationTimestamp) ?? 0;
  return (
    Number(isEvicted(b)) - Number(isEvicted(a)) ||
    bornAtMs(a) - bornAtMs(b) ||
    (a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name))
  );
}

function isEvicted({ status }: Pod): boolean {
  return status?.phase === "Failed" && status.reason === "Evicted";
}

export interface Ending {
  /** Recorded in a condition, if the cluster causes the termination. */
  readonly because?: { readonly reason: string; readonly message: string };
  readonly nowMs: number;
}

/** The status patch before the deletion; undefined if the Pod has already terminated. */
export function endedStatus(pod: Pod, { because, nowMs }: Ending): JsonObject | undefined {
  if (isTerminal(pod)) return undefined;
  const { generation } = pod.metadata;
  const condition = because === undefined ? undefined : disruptionTarget(pod, { status: "True", ...because }, nowMs);
  return {
    phase: "Failed",
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(condition === undefined ? {} : { conditions: [{ ...condition }] }),
  };
}
