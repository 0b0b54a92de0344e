/**
 * Recreate strategy: old Pods are deleted, and when the last of them has terminated, new ones are created. Pods of two templates never run
 * at the same time.
 */
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { activeOnes, sum, type Rollout } from "./rollout.ts";
import { stepTo, type ScalingStep } from "./scaling.ts";

export function planOldOnesAway({ oldReplicaSets }: Rollout): readonly ScalingStep[] {
  return activeOnes(oldReplicaSets).map((one) => stepTo(one, 0));
}

/** Whether a Pod of an old template may still run, including terminating ones. */
export function runsOldPods({ oldReplicaSets }: Rollout, podsOf: (replicaSet: ReplicaSet) => readonly Pod[]): boolean {
  if (sum(oldReplicaSets, ({ status }) => status?.replicas ?? 0) > 0) return true;
  return oldReplicaSets.some((one) => podsOf(one).some((pod) => !hasEnded(pod)));
}

/** The state of a Pod on an unreachable node is unknown, so it counts. */
function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}
