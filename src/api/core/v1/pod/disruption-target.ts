/**
 * The DisruptionTarget condition: which component is about to terminate a Pod, and why. Controllers that count Pod failures ignore such
 * Pods.
 */
import { deepEqual } from "../../../../base/deep.ts";
import type { Pod, PodCondition } from "../../../generated/core/v1.ts";
import { findCondition, withCondition } from "../../../machinery/conditions.ts";

export const DISRUPTION_TARGET = "DisruptionTarget";

export interface Disruption {
  /** Whether the Pod will be terminated, or the disruption was cancelled. */
  readonly status: "True" | "False";
  readonly reason?: string;
  readonly message?: string;
}

/** The new condition; undefined if the Pod has it already. */
export function disruptionTarget(pod: Pod, disruption: Disruption, nowMs: number): PodCondition | undefined {
  const { generation } = pod.metadata;
  const wanted = { type: DISRUPTION_TARGET, ...disruption, ...(generation === undefined ? {} : { observedGeneration: generation }) };
  const conditions = pod.status?.conditions ?? [];
  const condition = findCondition(withCondition<PodCondition>(conditions, wanted, nowMs), DISRUPTION_TARGET);
  return isSame(condition, findCondition(conditions, DISRUPTION_TARGET)) ? undefined : condition;
}

/** The observed generation is not compared. */
function isSame(a: PodCondition | undefined, b: PodCondition | undefined): boolean {
  const words = (condition: PodCondition | undefined): readonly unknown[] => [condition?.status, condition?.reason, condition?.message];
  return deepEqual(words(a), words(b));
}
