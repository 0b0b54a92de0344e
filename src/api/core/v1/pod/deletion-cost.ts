/** The pod-deletion-cost annotation: a scale-down deletes Pods with a lower cost first. */
import type { Pod } from "../../../generated/core/v1.ts";

export const DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

const INT32_MAX = 2 ** 31 - 1;

/** Parses "7" and "-5", but not "+7" and "07", as upstream. Undefined if malformed. */
export function parseDeletionCost(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d*|-\d+)$/.test(text)) return undefined;
  const cost = Number(text) || 0; // "-0" is 0.
  return cost >= -INT32_MAX - 1 && cost <= INT32_MAX ? cost : undefined;
}

/** 0 if absent or malformed: such annotations were written before they were validated. */
export function deletionCost({ metadata }: Pod): number {
  const { annotations = {} } = metadata;
  if (!Object.hasOwn(annotations, DELETION_COST_ANNOTATION)) return 0;
  return parseDeletionCost(annotations[DELETION_COST_ANNOTATION] ?? "") ?? 0;
}
