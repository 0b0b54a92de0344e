/** How many Pods to create, or which to delete, in one reconciliation of a replica set. Pure. */
import { inDeletionOrder, type DeletionOrderOptions } from "../../api/core/v1/pod/deletion-order.ts";
import type { Pod } from "../../api/generated/core/v1.ts";

/** Maximum Pods created or deleted per reconciliation, as upstream's, so that a typo of 10,000 replicas can still be corrected. */
const BURST_MAX = 500;

export type ReplicaPlan =
  | { readonly does: "nothing" }
  | { readonly does: "create"; readonly count: number }
  | { readonly does: "delete"; readonly pods: readonly Pod[] };

export function planReplicas(wanted: number, active: readonly Pod[], order: DeletionOrderOptions): ReplicaPlan {
  const missing = wanted - active.length;
  if (missing === 0) return { does: "nothing" };
  if (missing > 0) return { does: "create", count: Math.min(missing, BURST_MAX) };
  const surplus = Math.min(-missing, BURST_MAX);
  return { does: "delete", pods: surplus === active.length ? active : inDeletionOrder(active, order).slice(0, surplus) };
}

/** Number of Pods by node name: "" counts unscheduled ones. */
export function podsPerNode(pods: Iterable<Pod>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { spec } of pods) counts.set(spec?.nodeName ?? "", (counts.get(spec?.nodeName ?? "") ?? 0) + 1);
  return counts;
}
