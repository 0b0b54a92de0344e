/**
 * RollingUpdate strategy: the total never exceeds replicas + `maxSurge`, and the available Pods never fall below replicas −
 * `maxUnavailable`. One reconciliation scales either the new ReplicaSet up or the old ones down; the result triggers the next.
 */
import { maxSurgeOf, maxUnavailableOf, wantedReplicas } from "../../api/apps/v1/rolling-bounds.ts";
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { activeOnes, allReplicaSets, availableOf, sizeOf, sum, type StartedRollout } from "./rollout.ts";
import { stepTo, type ScalingStep } from "./scaling.ts";

export function planRollingUpdate(rollout: StartedRollout): readonly ScalingStep[] {
  const { deployment, newReplicaSet } = rollout;
  const size = sizeOf(newReplicaSet);
  const next = newReplicaSetSize(deployment, { size, total: sum(allReplicaSets(rollout), sizeOf) });
  return next === size ? planOldOnes(rollout) : [stepTo(newReplicaSet, next)];
}

/** Size of the new one, given its current `size` and the `total`. */
export function newReplicaSetSize(deployment: Deployment, { size, total }: { readonly size: number; readonly total: number }): number {
  const wanted = wantedReplicas(deployment);
  if (size >= wanted) return wanted;
  const room = wanted + maxSurgeOf(deployment) - total;
  return room <= 0 ? size : size + Math.min(room, wanted - size);
}

function planOldOnes(rollout: StartedRollout): readonly ScalingStep[] {
  const { deployment, newReplicaSet } = rollout;
  const old = activeOnes(rollout.oldReplicaSets);
  // One that was scaled down and has not followed still counts Pods that are about to be deleted: the remaining number is unknown.
  if (old.some((one) => availableOf(one) > sizeOf(one))) return [];
  const leastAvailable = wantedReplicas(deployment) - maxUnavailableOf(deployment);
  // Unavailable new Pods must not cause available old ones to be removed.
  const notYetAvailable = sizeOf(newReplicaSet) - availableOf(newReplicaSet);
  const surplus = sum(allReplicaSets(rollout), sizeOf) - leastAvailable - notYetAvailable;
  if (surplus <= 0) return [];

  // Unhealthy Pods first, or they could block the rollout forever; only then healthy ones.
  const broken = takeAway(old, surplus, (one) => sizeOf(one) - availableOf(one));
  const left = old.map((one, index) => sizeOf(one) - (broken[index] ?? 0));
  const working = takeAway(old, sum([...old, newReplicaSet], availableOf) - leastAvailable, (_, index) => left[index] ?? 0);
  return [...stepsOf(old, old.map(sizeOf), broken), ...stepsOf(old, left, working)];
}

/** From each in turn as many as it can give, at most `most` in total. */
function takeAway(
  replicaSets: readonly ReplicaSet[],
  most: number,
  has: (replicaSet: ReplicaSet, index: number) => number,
): readonly number[] {
  let rest = Math.max(0, most);
  return replicaSets.map((one, index) => {
    const taken = Math.min(rest, has(one, index));
    rest -= taken;
    return taken;
  });
}

function stepsOf(replicaSets: readonly ReplicaSet[], sizes: readonly number[], taken: readonly number[]): readonly ScalingStep[] {
  const steps = replicaSets.map((one, index) => ({
    step: stepTo(one, (sizes[index] ?? 0) - (taken[index] ?? 0)),
    taken: taken[index] ?? 0,
  }));
  return steps.filter((each) => each.taken > 0).map(({ step }) => step);
}
