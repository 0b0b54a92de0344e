/** Pods by the Node that they are bound to, for an informer to keep; those that are bound to none are under "". */
import type { Pod } from "../../../generated/core/v1.ts";
import { pods } from "../pod.ts";

/** One value for all who ask, so that the index is kept once. */
export const podsByNode = Object.freeze({ kind: pods, values: (pod: Pod): readonly string[] => [nodeOf(pod)] });

/** "" if it is bound to none. */
export function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? "";
}
