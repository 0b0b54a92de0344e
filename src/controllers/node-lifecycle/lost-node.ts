/** Status of a lost Node, with upstream's messages: its conditions are Unknown, and its Pods are not ready. */
import type { Node, NodeCondition, Pod } from "../../api/generated/core/v1.ts";
import { readyCondition } from "../../api/core/v1/node/health.ts";
import { isReady, timestampMs, readySinceMs } from "../../api/core/v1/pod/readiness.ts";
import { findCondition, withCondition } from "../../api/machinery/conditions.ts";
import { formatTime } from "../../api/machinery/time.ts";

/** NetworkUnavailable is not set by the kubelet. */
const KUBELETS_CONDITIONS = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** The conditions of a lost Node; undefined if it is already marked. */
export function lostConditions(node: Node, nowMs: number): readonly NodeCondition[] | undefined {
  if (readyCondition(node)?.status === "Unknown") return undefined;
  let conditions = node.status?.conditions ?? [];
  for (const type of KUBELETS_CONDITIONS) {
    const said = findCondition(conditions, type);
    if (said === undefined) conditions = [...conditions, neverSaid(type, node, nowMs)];
    else if (said.status !== "Unknown") conditions = withCondition(conditions, noLongerSaid(said), nowMs);
  }
  return conditions;
}

function neverSaid(type: string, { metadata }: Node, nowMs: number): NodeCondition {
  const now = formatTime(nowMs);
  return {
    type,
    status: "Unknown",
    reason: "NodeStatusNeverUpdated",
    message: "Kubelet never posted node status.",
    lastHeartbeatTime: metadata.creationTimestamp ?? now,
    lastTransitionTime: now,
  };
}

function noLongerSaid(condition: NodeCondition): NodeCondition {
  return { ...condition, status: "Unknown", reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
}

/**
 * Pods that still report ready though their Node is lost. While it is silent these are all of them. A Node that is heard again, or not
 * observed for long enough, may have reported so itself since: then only what was reported before the loss is reset, or the kubelet and we
 * would contradict each other forever.
 */
export function podsToTakeBack(node: Node, pods: readonly Pod[], { isSilent }: { readonly isSilent: boolean }): readonly Pod[] {
  const ready = readyCondition(node);
  if (ready?.status !== "Unknown") return [];
  const lostAtMs = timestampMs(ready.lastTransitionTime) ?? 0;
  return pods.filter((pod) => isReady(pod) && (isSilent || (readySinceMs(pod) ?? 0) <= lostAtMs));
}

/** Everything else stays. */
export function withoutReadiness(pod: Pod, nowMs: number): Pod {
  const ready = findCondition(pod.status?.conditions, "Ready");
  if (ready === undefined) return pod;
  return { ...pod, status: { ...pod.status, conditions: withCondition(pod.status?.conditions, { ...ready, status: "False" }, nowMs) } };
}
