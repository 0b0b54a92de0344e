/** The condition that says that a Pod is about to be ended, on a Pod that nobody has ended: after a while it is taken back. Pure. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { DISRUPTION_TARGET } from "../../api/core/v1/pod/disruption-target.ts";
import { isActive, momentMs } from "../../api/core/v1/pod/readiness.ts";
import { findCondition } from "../../api/machinery/conditions.ts";

/** How long whoever said so may take. */
const STALE_AFTER_MS = 120_000;

/** How long until it is to be taken back, 0 or less if now; undefined if there is nothing to take back. */
export function staleInMs(pod: Pod, nowMs: number): number | undefined {
  const target = findCondition(pod.status?.conditions, DISRUPTION_TARGET);
  if (target?.status !== "True" || !isActive(pod)) return undefined;
  // A kubelet ends its Pods itself, and may take as long as it takes.
  if (target.reason === "TerminationByKubelet") return undefined;
  return (momentMs(target.lastTransitionTime) ?? 0) + STALE_AFTER_MS - nowMs;
}
