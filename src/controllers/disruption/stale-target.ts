/** A DisruptionTarget condition on a Pod that was not deleted is reset after a timeout. Pure. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { DISRUPTION_TARGET } from "../../api/core/v1/pod/disruption-target.ts";
import { isActive, timestampMs } from "../../api/core/v1/pod/readiness.ts";
import { findCondition } from "../../api/machinery/conditions.ts";

/** Timeout of the component that set it. */
const STALE_AFTER_MS = 120_000;

/** Delay until the reset, 0 or less if now; undefined if there is nothing to reset. */
export function staleInMs(pod: Pod, nowMs: number): number | undefined {
  const target = findCondition(pod.status?.conditions, DISRUPTION_TARGET);
  if (target?.status !== "True" || !isActive(pod)) return undefined;
  // A kubelet terminates its Pods itself, without a timeout.
  if (target.reason === "TerminationByKubelet") return undefined;
  return (timestampMs(target.lastTransitionTime) ?? 0) + STALE_AFTER_MS - nowMs;
}
