/**
 * When a Pod is evicted from a Node with NoExecute taints: at once if it does not tolerate every taint, after the shortest
 * tolerationSeconds, or never. Pure. The time counts from when the taint was added, or the Pod was bound if that is later, so that a
 * restarted controller does not restart the timer; upstream does.
 */
import type { Pod, Taint } from "../../api/generated/core/v1.ts";
import { timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { tolerationsOf } from "../../api/core/v1/pod/tolerations.ts";
import { findCondition } from "../../api/machinery/conditions.ts";

const SECOND_MS = 1_000;

export type Stay =
  | { readonly is: "forever" }
  /** Remaining time; 0 or less if it has expired. */
  | { readonly is: "limited"; readonly remainingMs: number; readonly totalMs: number }
  | { readonly is: "over" };

/** `taints` are the NoExecute ones. */
export function stayOf(pod: Pod, taints: readonly Taint[], nowMs: number): Stay {
  const tolerations = tolerationsOf(taints, pod.spec?.tolerations ?? []);
  if (tolerations === undefined) return { is: "over" };
  const seconds = tolerations.map(({ tolerationSeconds }) => tolerationSeconds).filter((limit) => limit !== undefined);
  if (seconds.length === 0) return { is: "forever" };
  const totalMs = Math.max(0, Math.min(...seconds)) * SECOND_MS;
  return { is: "limited", totalMs, remainingMs: totalMs - togetherMs(pod, taints, nowMs) };
}

export function noExecuteTaints(taints: readonly Taint[] | undefined): readonly Taint[] {
  return (taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

/** How long Pod and taints have coexisted; 0 if a taint has no timeAdded. */
function togetherMs(pod: Pod, taints: readonly Taint[], nowMs: number): number {
  const boundAtMs = timestampMs(findCondition(pod.status?.conditions, "PodScheduled")?.lastTransitionTime);
  const cameAtMs = boundAtMs ?? timestampMs(pod.metadata.creationTimestamp) ?? nowMs;
  const taintedAtMs = Math.min(...taints.map(({ timeAdded }) => timestampMs(timeAdded) ?? nowMs));
  return Math.max(0, nowMs - Math.max(cameAtMs, taintedAtMs));
}
