/**
 * Revisions of a Deployment's ReplicaSets, and which of them is the new one. Revisions are numbers in annotations, incremented with every
 * change of the template; rollout, history and rollback use these rules.
 */
import type { Deployment, ReplicaSet } from "../../generated/apps/v1.ts";
import type { KubeObject } from "../../machinery/object.ts";
import { parseInt64 } from "./annotated-number.ts";
import { isSameTemplate } from "./pod-template-hash.ts";

/** On a Deployment: its desired revision. On a ReplicaSet: its own. */
export const REVISION_ANNOTATION = "deployment.kubernetes.io/revision";
/** Earlier revisions of a ReplicaSet that was rolled back to: "1,3". */
export const REVISION_HISTORY_ANNOTATION = "deployment.kubernetes.io/revision-history";
/** The Deployment's replicas when the ReplicaSet was last scaled: a different number now means that the Deployment was scaled. */
export const DESIRED_REPLICAS_ANNOTATION = "deployment.kubernetes.io/desired-replicas";
/** The maximum replicas then, including the surge of an update. */
export const MAX_REPLICAS_ANNOTATION = "deployment.kubernetes.io/max-replicas";

/** 0 if absent; undefined if malformed. A bigint, since it is an int64. */
export function revisionOf({ metadata }: KubeObject): bigint | undefined {
  const text = metadata.annotations?.[REVISION_ANNOTATION];
  return text === undefined ? 0n : parseInt64(text);
}

/** The new ReplicaSet: the one with the Deployment's template; of several, the oldest. */
export function newReplicaSetOf(deployment: Deployment, replicaSets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const template = deployment.spec?.template;
  if (template === undefined) return undefined;
  const same = replicaSets.filter(({ spec }) => spec?.template !== undefined && isSameTemplate(spec.template, template));
  return same.toSorted(oldestFirst)[0];
}

/** By creation timestamp, then by name. */
export function oldestFirst(a: ReplicaSet, b: ReplicaSet): number {
  return (
    compareTexts(a.metadata.creationTimestamp ?? "", b.metadata.creationTimestamp ?? "") || compareTexts(a.metadata.name, b.metadata.name)
  );
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
