/** Why preemption does not help, in upstream's wording: appended to the Pod's event. */
import type { Found } from "./find-candidate.ts";
import { joinedErrors } from "../../../base/joined-errors.ts";

/** For nodes that were not tried. */
const NOT_HELPFUL = "Preemption is not helpful for scheduling";

/** "0/3 nodes are available: 1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling." */
export function refusalMessage({ tried, reasons }: Extract<Found, { readonly is: "none" }>, nodeCount: number): string {
  const counts = new Map(reasons);
  if (tried < nodeCount) counts.set(NOT_HELPFUL, (counts.get(NOT_HELPFUL) ?? 0) + nodeCount - tried);
  // Sorted as text including the count, so "10 …" comes before "2 …".
  const counted = Array.from(counts, ([reason, count]) => `${count} ${reason}`).toSorted();
  return `0/${nodeCount} nodes are available: ${counted.join(", ")}.`;
}

/** For nodes without victims after all. */
export function contradictionMessage(nodeNames: readonly string[]): string {
  const sentences = nodeNames.map((name) => `expected at least one victim pod on node ${JSON.stringify(name)}`);
  return joinedErrors(sentences);
}
