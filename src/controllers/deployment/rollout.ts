/**
 * A Deployment with its ReplicaSets, told apart: the new one has the Deployment's template, all others are old. Every decision of this
 * folder is made from one of these. Also the sums that those decisions share.
 */
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { newReplicaSetOf, oldestFirst } from "../../api/apps/v1/deployment-revision.ts";

export interface Rollout {
  /** With what this pass has to tell about it; see `report` in deployment-controller.ts. */
  readonly deployment: Deployment;
  /** Undefined as long as there is none with the Deployment's template. */
  readonly newReplicaSet: ReplicaSet | undefined;
  /** The oldest first. */
  readonly oldReplicaSets: readonly ReplicaSet[];
}

/** Once the new one is made. */
export interface StartedRollout extends Rollout {
  readonly newReplicaSet: ReplicaSet;
}

export function rolloutOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): Rollout {
  const newReplicaSet = newReplicaSetOf(deployment, replicaSets);
  return { deployment, newReplicaSet, oldReplicaSets: replicaSets.filter((one) => one !== newReplicaSet).toSorted(oldestFirst) };
}

export function allReplicaSets({ newReplicaSet, oldReplicaSets }: Rollout): readonly ReplicaSet[] {
  return newReplicaSet === undefined ? oldReplicaSets : [...oldReplicaSets, newReplicaSet];
}

/** With one of its ReplicaSets as it was written just now. */
export function withReplicaSet<R extends Rollout>(rollout: R, written: ReplicaSet): R {
  const isIt = ({ metadata }: ReplicaSet) => metadata.name === written.metadata.name;
  if (rollout.newReplicaSet !== undefined && isIt(rollout.newReplicaSet)) return { ...rollout, newReplicaSet: written };
  return { ...rollout, oldReplicaSets: rollout.oldReplicaSets.map((one) => (isIt(one) ? written : one)) };
}

/** How many Pods it should have. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

/** How many of its Pods have been ready for long enough. */
export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

/** Those that should have Pods. */
export function activeOnes(replicaSets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return replicaSets.filter((one) => sizeOf(one) > 0);
}

export function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return replicaSets.reduce((total, one) => total + count(one), 0);
}
