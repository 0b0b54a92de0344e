/** The condition that says who is about to end a Pod, and why: whoever counts failures of Pods does not hold these against them. */
import { deepEqual } from "../../../../base/deep.ts";
import type { Pod, PodCondition } from "../../../generated/core/v1.ts";
import { findCondition, withCondition } from "../../../machinery/conditions.ts";

export const DISRUPTION_TARGET = "DisruptionTarget";

export interface Disruption {
  /** Whether the Pod is to go, or was after all let stay. */
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** The condition as it is to be; undefined if the Pod says so already. */
export function disruptionTarget(pod: Pod, disruption: Disruption, nowMs: number): PodCondition | undefined {
  const { generation } = pod.metadata;
  const wanted = { type: DISRUPTION_TARGET, ...disruption, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const conditions = pod.status?.conditions ?? [];
  const condition = findCondition(withCondition<PodCondition>(conditions, wanted, nowMs), DISRUPTION_TARGET);
  return isSame(condition, findCondition(conditions, DISRUPTION_TARGET)) ? undefined : condition;
}

/** For which generation it was said does not matter. */
function isSame(a: PodCondition | undefined, b: PodCondition | undefined): boolean {
  const words = (condition: PodCondition | undefined): readonly unknown[] => [condition?.status, condition?.reason, condition?.message];
  return deepEqual(words(a), words(b));
}
