/**
 * What happens when somebody scales a Deployment, perhaps in the middle of an update. More Pods must not mean that a new template that may
 * not work is spread faster, so each ReplicaSet gets a share of what is added or taken away that is as large as it is among the others.
 */
import { isRollingUpdate, maxSurgeOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import { oldestFirst } from "../../api/apps/v1/deployment-revision.ts";
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { activeOnes, allReplicaSets, availableOf, sizeOf, sum, type Rollout } from "./rollout.ts";
import { desiredThen, maxThen, stepTo, type ScalingStep } from "./scaling.ts";

/** Whether the Deployment wants another number of Pods now than when its ReplicaSets were last scaled. */
export function isScaled(rollout: Rollout): boolean {
  return activeOnes(allReplicaSets(rollout)).some((one) => !isDesired(one, rollout.deployment));
}

/** One that does not say what was wanted then is left to the update. */
function isDesired(replicaSet: ReplicaSet, deployment: Deployment): boolean {
  return (desiredThen(replicaSet) ?? wantedReplicas(deployment)) === wantedReplicas(deployment);
}

export function planScaling(rollout: Rollout): readonly ScalingStep[] {
  const { deployment, newReplicaSet, oldReplicaSets } = rollout;
  const active = activeOnes(allReplicaSets(rollout));
  if (active.length <= 1) return planOnlyOne(active[0] ?? newReplicaSet ?? oldReplicaSets.at(-1), deployment);
  if (newReplicaSet !== undefined && isComplete(newReplicaSet, deployment)) return activeOnes(oldReplicaSets).map((one) => stepTo(one, 0));
  return isRollingUpdate(deployment) ? planShares(active, deployment) : [];
}

function planOnlyOne(replicaSet: ReplicaSet | undefined, deployment: Deployment): readonly ScalingStep[] {
  if (replicaSet === undefined) return [];
  const wanted = wantedReplicas(deployment);
  // One of the right size that says otherwise must be told as well, or it would look as if somebody scaled for ever.
  const isRight = sizeOf(replicaSet) === wanted && (wanted === 0 || isDesired(replicaSet, deployment));
  return isRight ? [] : [stepTo(replicaSet, wanted)];
}

/** Whether the new one is all that is wanted: others were adopted late. */
function isComplete(replicaSet: ReplicaSet, deployment: Deployment): boolean {
  const wanted = wantedReplicas(deployment);
  return [sizeOf(replicaSet), desiredThen(replicaSet), availableOf(replicaSet)].every((count) => count === wanted);
}

/** A step for each, also if its size stays: it is to know what is wanted now. */
function planShares(active: readonly ReplicaSet[], deployment: Deployment): readonly ScalingStep[] {
  const wanted = wantedReplicas(deployment);
  const missing = (wanted === 0 ? 0 : wanted + maxSurgeOf(deployment)) - sum(active, sizeOf);
  // The largest is asked first, and has what is left over by rounding; of equals the new ones grow first and the old ones shrink first.
  const ordered = active.toSorted((a, b) => sizeOf(b) - sizeOf(a) || (missing > 0 ? oldestFirst(b, a) : oldestFirst(a, b)));
  let rest = missing;
  const sizes = ordered.map((one) => {
    const share = rest === 0 ? 0 : shareOf(one, deployment);
    const added = missing > 0 ? Math.min(share, rest) : Math.max(share, rest);
    rest -= added;
    return sizeOf(one) + added;
  });
  return ordered.map((one, index) => stepTo(one, index === 0 ? Math.max(0, (sizes[0] ?? 0) + rest) : (sizes[index] ?? 0)));
}

/** By how much it would grow (or shrink, below 0) if all grew alike. */
function shareOf(replicaSet: ReplicaSet, deployment: Deployment): number {
  const size = sizeOf(replicaSet);
  if (wantedReplicas(deployment) === 0) return -size;
  const most = wantedReplicas(deployment) + maxSurgeOf(deployment);
  // Somebody may have taken the annotation away; how many there are is the next best.
  const mostThen = maxThen(replicaSet) || (deployment.status?.replicas ?? 0);
  return mostThen === 0 ? 0 : Math.round((size * most) / mostThen) - size;
}
