/** How dear a pod is to its owner compared with its siblings, by an annotation: the cheaper ones go first when there are too many. */
import type { Pod } from "../../../generated/core/v1.ts";

export const DELETION_COST_ANNOTATION = "controller.kubernetes.io/pod-deletion-cost";

const INT32_MAX = 2 ** 31 - 1;

/** "7" and "-5", but not what upstream does not want to guess at: "+7", "07". Undefined if it is no such number. */
export function parseDeletionCost(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d*|-\d+)$/.test(text)) return undefined;
  const cost = Number(text) || 0; // "-0" is 0.
  return cost >= -INT32_MAX - 1 && cost <= INT32_MAX ? cost : undefined;
}

/** 0 if nothing is said, or nothing that can be read: such annotations were written before they were checked. */
export function deletionCost({ metadata }: Pod): number {
  const { annotations = {} } = metadata;
  if (!Object.hasOwn(annotations, DELETION_COST_ANNOTATION)) return 0;
  return parseDeletionCost(annotations[DELETION_COST_ANNOTATION] ?? "") ?? 0;
}
