/**
 * Scaling of a Deployment, possibly during a rollout. More Pods must not spread a new template that may not work faster, so that each
 * ReplicaSet gets a share of the change proportional to its size.
 */
import { isRollingUpdate, maxSurgeOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import { oldestFirst } from "../../api/apps/v1/deployment-revision.ts";
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { activeOnes, allReplicaSets, availableOf, sizeOf, sum, type Rollout } from "./rollout.ts";
import { desiredThen, maxThen, stepTo, type ScalingStep } from "./scaling.ts";

/** Whether the Deployment's replicas differ from those recorded at the last scaling. */
export function isScaled(rollout: Rollout): boolean {
  return activeOnes(allReplicaSets(rollout)).some((one) => !isDesired(one, rollout.deployment));
}

/** One without the annotation is left to the rollout. */
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
  // One of the right size with another annotation is updated as well, or it would look like scaling forever.
  const isRight = sizeOf(replicaSet) === wanted && (wanted === 0 || isDesired(replicaSet, deployment));
  return isRight ? [] : [stepTo(replicaSet, wanted)];
}

/** Whether the new one has all desired Pods: others were adopted late. */
function isComplete(replicaSet: ReplicaSet, deployment: Deployment): boolean {
  const wanted = wantedReplicas(deployment);
  return [sizeOf(replicaSet), desiredThen(replicaSet), availableOf(replicaSet)].every((count) => count === wanted);
}

/** A step for each, also without a size change: the annotation is updated. */
function planShares(active: readonly ReplicaSet[], deployment: Deployment): readonly ScalingStep[] {
  const wanted = wantedReplicas(deployment);
  const missing = (wanted === 0 ? 0 : wanted + maxSurgeOf(deployment)) - sum(active, sizeOf);
  // The largest goes first, and gets the rounding remainder; of equals the new ones grow first and the old ones shrink first.
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

/** Its proportional growth (below 0: shrinking). */
function shareOf(replicaSet: ReplicaSet, deployment: Deployment): number {
  const size = sizeOf(replicaSet);
  if (wantedReplicas(deployment) === 0) return -size;
  const most = wantedReplicas(deployment) + maxSurgeOf(deployment);
  // The annotation may have been removed; the current total is the fallback.
  const mostThen = maxThen(replicaSet) || (deployment.status?.replicas ?? 0);
  return mostThen === 0 ? 0 : Math.round((size * most) / mostThen) - size;
}
