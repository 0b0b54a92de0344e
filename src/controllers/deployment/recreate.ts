/**
 * Replaces all Pods at once: the old ones go, and when the last of them has ended, new ones come. At no time do Pods of two templates run.
 */
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { activeOnes, sum, type Rollout } from "./rollout.ts";
import { stepTo, type ScalingStep } from "./scaling.ts";

export function planOldOnesAway({ oldReplicaSets }: Rollout): readonly ScalingStep[] {
  return activeOnes(oldReplicaSets).map((one) => stepTo(one, 0));
}

/** Whether a Pod of an old template may still run, also one that is being deleted. */
export function runsOldPods({ oldReplicaSets }: Rollout, podsOf: (replicaSet: ReplicaSet) => readonly Pod[]): boolean {
  if (sum(oldReplicaSets, ({ status }) => status?.replicas ?? 0) > 0) return true;
  return oldReplicaSets.some((one) => podsOf(one).some((pod) => !hasEnded(pod)));
}

/** Of one whose node cannot be heard nobody knows, so it counts. */
function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Failed" || status?.phase === "Succeeded";
}
