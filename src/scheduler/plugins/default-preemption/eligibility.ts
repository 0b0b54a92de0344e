/** Whether a Pod is eligible to preempt, with upstream's messages. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { DISRUPTION_TARGET } from "../../../api/core/v1/pod/disruption-target.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { WhatIf } from "../../framework/plugin.ts";

/** Preemption is recorded in the victim's DisruptionTarget condition; scheduler/effects.ts writes it. */
const PREEMPTED = "PreemptionByScheduler";

/** Undefined: eligible. `pod` is the newest version: a nomination may have been added since it was queued. */
export function whyNotEligible(pod: Pod, { priority }: PodInfo, whatIf: Pick<WhatIf, "resolvableNodes">): string | undefined {
  if (pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const nominated = pod.status?.nominatedNodeName ?? "";
  if (nominated === "") return undefined;
  // Waiting for a node that is infeasible whatever is evicted would be futile.
  const node = whatIf.resolvableNodes.find(({ name }) => name === nominated);
  const isWaitedFor = node?.pods.some((other) => other.priority < priority && isLeavingByPreemption(other.pod)) === true;
  return isWaitedFor ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

function isLeavingByPreemption({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const target = findCondition(status?.conditions, DISRUPTION_TARGET);
  return target?.status === "True" && target.reason === PREEMPTED;
}
