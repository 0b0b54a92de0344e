/**
 * The annotations of a new ReplicaSet: what its Deployment says of itself, and which revision it is. A revision is the highest there was
 * and one, and is counted as a bigint: somebody may have written one that no other number can hold.
 */
import {
  DESIRED_REPLICAS_ANNOTATION,
  MAX_REPLICAS_ANNOTATION,
  REVISION_ANNOTATION,
  REVISION_HISTORY_ANNOTATION,
  revisionOf,
} from "../../api/apps/v1/deployment-revision.ts";
import { ROLLBACK_ANNOTATION } from "../../api/apps/v1/deployment-rollback.ts";
import type { Deployment, ReplicaSet } from "../../api/generated/apps/v1.ts";

export type Annotations = Readonly<Record<string, string>>;

/** What `kubectl apply` remembers: it is about the Deployment itself. */
const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** About 100 revisions. Older ones are forgotten. */
const HISTORY_LENGTH_MAX = 2_000;

/** Those that mean something else on a ReplicaSet than on its Deployment, or nothing. */
const NOT_SHARED: ReadonlySet<string> = new Set([
  LAST_APPLIED_ANNOTATION,
  REVISION_ANNOTATION,
  REVISION_HISTORY_ANNOTATION,
  DESIRED_REPLICAS_ANNOTATION,
  MAX_REPLICAS_ANNOTATION,
  ROLLBACK_ANNOTATION,
]);

/** What a Deployment and its new ReplicaSet both have. */
export function sharedAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_SHARED.has(key)));
}

export function ownAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => NOT_SHARED.has(key)));
}

/** Of the one that comes after these. */
export function nextRevision(oldReplicaSets: readonly ReplicaSet[]): bigint {
  return highest(revisionsOf(oldReplicaSets)) + 1n;
}

/** The one before the present one; undefined if there is none. */
export function previousRevision(replicaSets: readonly ReplicaSet[]): bigint | undefined {
  const revisions = revisionsOf(replicaSets);
  const present = highest(revisions);
  // Only one of them is the present one: two of the same revision are the present and the previous one.
  const previous = highest(revisions.toSpliced(revisions.indexOf(present), 1));
  return previous === 0n ? undefined : previous;
}

/** Without those whose revision is no number. */
function revisionsOf(replicaSets: readonly ReplicaSet[]): readonly bigint[] {
  return replicaSets.map(revisionOf).filter((revision) => revision !== undefined);
}

function highest(revisions: readonly bigint[]): bigint {
  return revisions.reduce((most, revision) => (revision > most ? revision : most), 0n);
}

/**
 * The annotations that a ReplicaSet has as the new one. It keeps a higher revision: those after which it came may be deleted. If it
 * was another revision before, its Deployment went back to it, and it remembers.
 */
export function newReplicaSetAnnotations(deployment: Deployment, replicaSet: ReplicaSet, revision: bigint): Annotations {
  const { annotations = {} } = replicaSet.metadata;
  const present = annotations[REVISION_ANNOTATION];
  const isNone = present === undefined || present === "";
  const number = isNone ? 0n : revisionOf(replicaSet);
  // Somebody wrote what is no number: upstream keeps its hands off, and so stays what they wanted to see.
  if (number === undefined) return annotations;
  const shared = { ...annotations, ...sharedAnnotations(deployment.metadata.annotations) };
  if (number >= revision) return shared;
  const history = present === undefined ? {} : historyWith(annotations[REVISION_HISTORY_ANNOTATION] ?? "", present);
  return { ...shared, ...history, [REVISION_ANNOTATION]: revision.toString() };
}

/** The latest at the end. */
function historyWith(history: string, revision: string): Annotations {
  const revisions = history === "" ? [revision] : [...history.split(","), revision];
  let length = revisions.join(",").length;
  while (length > HISTORY_LENGTH_MAX && revisions.length > 1) length -= (revisions.shift() ?? "").length + 1;
  return { [REVISION_HISTORY_ANNOTATION]: revisions.join(",") };
}
