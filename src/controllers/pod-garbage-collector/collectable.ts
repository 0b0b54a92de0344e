/**
 * Which Pods nobody will end any more, so that somebody must: those whose Node is gone, those that wait to be ended by nobody, and the
 * oldest of too many that have ended. Pure.
 */
import type { Node, Pod } from "../../api/generated/core/v1.ts";
import { isNodeReady } from "../../api/core/v1/node/health.ts";
import { TAINT_OUT_OF_SERVICE } from "../../api/core/v1/node/taint-keys.ts";
import { nodeOf } from "../../api/core/v1/pod/by-node.ts";
import { disruptionTarget } from "../../api/core/v1/pod/disruption-target.ts";
import { isTerminal, momentMs } from "../../api/core/v1/pod/readiness.ts";
import type { JsonObject } from "../../api/machinery/object.ts";

/** It was told to go before anybody had begun to run it, and is still held by something. */
export function isUnscheduledAndGoing(pod: Pod): boolean {
  return isGoing(pod) && !isVanishing(pod) && nodeOf(pod) === "";
}

/** Nothing holds it: that it goes is told a moment before it is gone. */
function isVanishing(pod: Pod): boolean {
  return isGoingAtOnce(pod) && (pod.metadata.finalizers ?? []).length === 0;
}

export function isGoing({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** It goes as soon as its finalizers let it: to delete it again changes nothing. */
export function isGoingAtOnce(pod: Pod): boolean {
  return isGoing(pod) && pod.metadata.deletionGracePeriodSeconds === 0;
}

/** All that can be done about it is done. */
export function isDone(pod: Pod): boolean {
  return isTerminal(pod) && isGoingAtOnce(pod);
}

/** Somebody said that this machine stays off, and it does look so. */
export function isOutOfService(node: Node): boolean {
  return !isNodeReady(node) && (node.spec?.taints ?? []).some(({ key }) => key === TAINT_OUT_OF_SERVICE);
}

/** The surplus of Pods that have ended: first those that were evicted, then the oldest. A threshold of 0 or less keeps all. */
export function surplusOf(ended: readonly Pod[], threshold: number): readonly Pod[] {
  if (threshold <= 0 || ended.length <= threshold) return [];
  return ended.toSorted(evictedAndOldFirst).slice(0, ended.length - threshold);
}

function evictedAndOldFirst(a: Pod, b: Pod): number {
  const bornAtMs = ({ metadata }: Pod): number => momentMs(metadata.creationTimestamp) ?? 0;
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
  /** Told in a condition, if it is the cluster's doing that the Pod ends. */
  readonly because?: { readonly reason: string; readonly message: string };
  readonly nowMs: number;
}

/** What the Pod's status must say before the Pod goes, as a patch; undefined if it says that it has ended. */
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
