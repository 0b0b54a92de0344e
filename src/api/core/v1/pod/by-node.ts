/** Informer index of Pods by node name; unscheduled Pods are under "". */
import type { Pod } from "../../../generated/core/v1.ts";
import { pods } from "../pod.ts";

/** A shared value, so that the index is maintained once. */
export const podsByNode = Object.freeze({ kind: pods, values: (pod: Pod): readonly string[] => [nodeOf(pod)] });

/** "" if it is not bound. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? "";
}
