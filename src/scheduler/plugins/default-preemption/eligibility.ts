/** Whether a Pod may evict others at all, in upstream's words. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { DISRUPTION_TARGET } from "../../../api/core/v1/pod/disruption-target.ts";
import { findCondition } from "../../../api/machinery/conditions.ts";
import type { PodInfo } from "../../framework/pod-info.ts";
import type { WhatIf } from "../../framework/plugin.ts";

/** Who evicts says so in the condition DisruptionTarget of the victim; scheduler/effects.ts writes it. */
const PREEMPTED = "PreemptionByScheduler";

/** Undefined: it may. `pod` is the newest version: what was nominated may have come since it was queued. */
export function whyNotEligible(pod: Pod, { priority }: PodInfo, whatIf: Pick<WhatIf, "resolvableNodes">): string | undefined {
  if (pod.spec?.preemptionPolicy === "Never") return "not eligible due to preemptionPolicy=Never.";
  const nominated = pod.status?.nominatedNodeName ?? "";
  if (nominated === "") return undefined;
  // Waiting for a node that will not do whatever leaves it would be in vain.
  const node = whatIf.resolvableNodes.find(({ name }) => name === nominated);
  const isWaitedFor = node?.pods.some((other) => other.priority < priority && isLeavingByPreemption(other.pod)) === true;
  return isWaitedFor ? "not eligible due to a terminating pod on the nominated node." : undefined;
}

function isLeavingByPreemption({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  const target = findCondition(status?.conditions, DISRUPTION_TARGET);
  return target?.status === "True" && target.reason === PREEMPTED;
}
