/** Cleanup of old ReplicaSets: those beyond `revisionHistoryLimit`, lowest revisions first, unless they have Pods. */
import { oldestFirst, revisionOf } from "../../api/apps/v1/deployment-revision.ts";
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import { sizeOf, type Rollout } from "./rollout.ts";

/** All are kept. */
const NO_LIMIT = 2 ** 31 - 1;

export function planForgetting({ deployment, oldReplicaSets }: Rollout): readonly ReplicaSet[] {
  const { revisionHistoryLimit = NO_LIMIT } = deployment.spec ?? {};
  if (revisionHistoryLimit === NO_LIMIT) return [];
  const kept = oldReplicaSets.filter(({ metadata }) => metadata.deletionTimestamp === undefined).toSorted(lowestRevisionFirst);
  // One that cannot be deleted counts nevertheless: no other is deleted in its place.
  return kept.slice(0, Math.max(0, kept.length - revisionHistoryLimit)).filter(isEmpty);
}

function lowestRevisionFirst(a: ReplicaSet, b: ReplicaSet): number {
  const [first, second] = [revisionOf(a), revisionOf(b)];
  if (first === undefined || second === undefined || first === second) return oldestFirst(a, b);
  return first < second ? -1 : 1;
}

/** Has no Pods and creates none; an outdated status does not count. */
function isEmpty(replicaSet: ReplicaSet): boolean {
  const { replicas = 0, observedGeneration = 0 } = replicaSet.status ?? {};
  return replicas === 0 && sizeOf(replicaSet) === 0 && observedGeneration >= (replicaSet.metadata.generation ?? 0);
}
