/**
 * Which ReplicaSet of a Deployment is of which revision, and which is the present one. Revisions are numbers in annotations, counted up
 * with every change of the template; what rolls out, shows the history or goes back reads them by these rules.
 */
import type { Deployment, ReplicaSet } from "../../generated/apps/v1.ts";
import type { KubeObject } from "../../machinery/object.ts";
import { parseInt64 } from "./annotated-number.ts";
import { isSameTemplate } from "./pod-template-hash.ts";

/** On a Deployment: which revision it wants. On a ReplicaSet: which it is. */
export const REVISION_ANNOTATION = "deployment.kubernetes.io/revision";
/** Which revisions a ReplicaSet has been before it was gone back to: "1,3". */
export const REVISION_HISTORY_ANNOTATION = "deployment.kubernetes.io/revision-history";
/** How many Pods the Deployment wanted when the ReplicaSet was last scaled: if it is another number now, somebody scales. */
export const DESIRED_REPLICAS_ANNOTATION = "deployment.kubernetes.io/desired-replicas";
/** How many it could have had at most then, with what comes on top during an update. */
export const MAX_REPLICAS_ANNOTATION = "deployment.kubernetes.io/max-replicas";

/** 0 if it has none; undefined if what it has is no number. A bigint, since it is one of 64 bits. */
export function revisionOf({ metadata }: KubeObject): bigint | undefined {
  const text = metadata.annotations?.[REVISION_ANNOTATION];
  return text === undefined ? 0n : parseInt64(text);
}

/** The one with the Deployment's template; should there be several, the oldest of them. */
export function newReplicaSetOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = deployment.spec?.template;
  if (template === undefined) return undefined;
  const same = replicaSets.filter(({ spec }) => spec?.template !== undefined && isSameTemplate(spec.template, template));
  return same.toSorted(oldestFirst)[0];
}

/** By the time they were made, then by name. */
export function oldestFirst(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compareTexts(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") || compareTexts(a.metadata.name, b.metadata.name)
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
