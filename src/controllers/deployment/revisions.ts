/**
 * The annotations of a new ReplicaSet: those of its Deployment, and its revision. A revision is the maximum plus one, as a bigint:
 * annotations may contain numbers beyond 2^53.
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

/** Last-applied configuration of `kubectl apply`: it concerns the Deployment itself. */
const LAST_APPLIED_ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration";

/** About 100 revisions. Older ones are dropped. */
const HISTORY_LENGTH_MAX = 2_000;

/** Annotations with another meaning, or none, on a ReplicaSet. */
const NOT_SHARED: ReadonlySet<string> = new Set([
  LAST_APPLIED_ANNOTATION,
  REVISION_ANNOTATION,
  REVISION_HISTORY_ANNOTATION,
  DESIRED_REPLICAS_ANNOTATION,
  MAX_REPLICAS_ANNOTATION,
  ROLLBACK_ANNOTATION,
]);

/** The annotations shared by a Deployment and its new ReplicaSet. */
export function sharedAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_SHARED.has(key)));
}

export function ownAnnotations(annotations: Annotations = {}): Annotations {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => NOT_SHARED.has(key)));
}

/** The next revision. */
export function nextRevision(oldReplicaSets: readonly ReplicaSet[]): bigint {
  return highest(revisionsOf(oldReplicaSets)) + 1n;
}

/** The previous revision; undefined if none exists. */
export function previousRevision(replicaSets: readonly ReplicaSet[]): bigint | undefined {
  const revisions = revisionsOf(replicaSets);
  const present = highest(revisions);
  // Only one of them is the current one: two of the same revision are the current and the previous one.
  const previous = highest(revisions.toSpliced(revisions.indexOf(present), 1));
  return previous === 0n ? undefined : previous;
}

/** Without those whose revision is not a number. */
function revisionsOf(replicaSets: readonly ReplicaSet[]): readonly bigint[] {
  return replicaSets.map(revisionOf).filter((revision) => revision !== undefined);
}

function highest(revisions: readonly bigint[]): bigint {
  return revisions.reduce((most, revision) => (revision > most ? revision : most), 0n);
}

/**
 * The annotations of a ReplicaSet as the new one. It keeps a higher revision: those before it may be deleted. If it had another revision,
 * the Deployment was rolled back to it, and the old one is recorded.
 */
export function newReplicaSetAnnotations(deployment: Deployment, replicaSet: ReplicaSet, revision: bigint): Annotations {
  const { annotations = {} } = replicaSet.metadata;
  const present = annotations[REVISION_ANNOTATION];
  const isNone = present === undefined || present === "";
  const number = isNone ? 0n : revisionOf(replicaSet);
  // Not a number: upstream does not change it, so that it stays visible.
  if (number === undefined) return annotations;
  const shared = { ...annotations, ...sharedAnnotations(deployment.metadata.annotations) };
  if (number >= revision) return shared;
  const history = present === undefined ? {} : historyWith(annotations[REVISION_HISTORY_ANNOTATION] ?? "", present);
  return { ...shared, ...history, [REVISION_ANNOTATION]: revision.toString() };
}

/** Newest last. */
function historyWith(history: string, revision: string): Annotations {
  const revisions = history === "" ? [revision] : [...history.split(","), revision];
  let length = revisions.join(",").length;
  while (length > HISTORY_LENGTH_MAX && revisions.length > 1) length -= (revisions.shift() ?? "").length + 1;
  return { [REVISION_HISTORY_ANNOTATION]: revisions.join(",") };
}
