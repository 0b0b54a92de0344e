/**
 * A Deployment with its ReplicaSets: the new one has the Deployment's template, all others are old. Every decision of this folder is made
 * from one of these. Also the sums shared by those decisions.
 */
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";
import { newReplicaSetOf, oldestFirst } from "../../api/apps/v1/deployment-revision.ts";

export interface Rollout {
  /** With the status that this reconciliation reports; see `report` in deployment-controller.ts. */
  readonly deployment: Deployment;
  /** Undefined if no ReplicaSet has the Deployment's template. */
  readonly newReplicaSet: ReplicaSet | undefined;
  /** Oldest first. */
  readonly oldReplicaSets: readonly ReplicaSet[];
}

/** Once the new one is created. */
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

/** With one of its ReplicaSets as just written. */
export function withReplicaSet<R extends Rollout>(rollout: R, written: ReplicaSet): R {
  const isIt = ({ metadata }: ReplicaSet) => metadata.name === written.metadata.name;
  if (rollout.newReplicaSet !== undefined && isIt(rollout.newReplicaSet)) return { ...rollout, newReplicaSet: written };
  return { ...rollout, oldReplicaSets: rollout.oldReplicaSets.map((one) => (isIt(one) ? written : one)) };
}

/** Desired number of Pods. */
export function sizeOf({ spec }: ReplicaSet): number {
  return spec?.replicas ?? 1;
}

/** Number of available Pods. */
export function availableOf({ status }: ReplicaSet): number {
  return status?.availableReplicas ?? 0;
}

/** Those with desired Pods. */
export function activeOnes(replicaSets: readonly ReplicaSet[]): readonly ReplicaSet[] {
  return replicaSets.filter((one) => sizeOf(one) > 0);
}

export function sum(replicaSets: readonly ReplicaSet[], count: (replicaSet: ReplicaSet) => number): number {
  return replicaSets.reduce((total, one) => total + count(one), 0);
}
