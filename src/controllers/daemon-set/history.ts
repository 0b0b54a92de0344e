/**
 * The revisions of a DaemonSet: which of its ControllerRevisions is that of its template, and which are forgotten. Unlike those of a
 * StatefulSet, the hash of the template distinguishes them. Pure.
 */
import { podTemplateHash } from "../../api/apps/v1/pod-template-hash.ts";
import type { ControllerRevision, DaemonSet } from "../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../api/generated/core/v1.ts";
import { controlledBy } from "../runtime/keys.ts";
import { nextRevisionNumber } from "../shared/revisions/history.ts";
import { revisionData, revisionText, textOf } from "../shared/revisions/revision-data.ts";
import { REVISION_HASH_LABEL } from "./daemon-pod.ts";

export interface HistoryPlan {
  /** The revision of the template; undefined if it must be created. */
  readonly current: ControllerRevision | undefined;
  /** Equal to the current one: their Pods are relabeled, then they are deleted. */
  readonly duplicates: readonly ControllerRevision[];
  readonly old: readonly ControllerRevision[];
  /** The number that the current one should have, unless it has a higher one. */
  readonly number: number;
}

/** `revisions`: oldest first. Of equal ones the latest is kept. */
export function planHistory(template: PodTemplateSpec, revisions: readonly ControllerRevision[]): HistoryPlan {
  const text = revisionText(template);
  const equal = revisions.filter((revision) => textOf(revision) === text);
  const old = revisions.filter((revision) => !equal.includes(revision));
  return { current: equal.at(-1), duplicates: equal.slice(0, -1), old, number: nextRevisionNumber(old) };
}

/** A new revision. Each `collisionCount` gives another name, for a name that something else has taken. */
export function newRevision(daemonSet: DaemonSet, template: PodTemplateSpec, number: number): ControllerRevision {
  const { name, namespace, annotations } = daemonSet.metadata;
  const hash = podTemplateHash(template, daemonSet.status?.collisionCount);
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${name}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...template.metadata?.labels, [REVISION_HASH_LABEL]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controlledBy(daemonSet)],
    },
    data: revisionData(template),
    revision: number,
  };
}

/** The revision with a hash label, which those of old versions lack; itself if it has one. */
export function labeled(revision: ControllerRevision): ControllerRevision {
  const { name, labels } = revision.metadata;
  if (labels?.[REVISION_HASH_LABEL] !== undefined) return revision;
  return { ...revision, metadata: { ...revision.metadata, labels: { ...labels, [REVISION_HASH_LABEL]: name } } };
}

export function hashOf({ metadata }: Pick<ControllerRevision, "metadata">): string {
  return metadata.labels?.[REVISION_HASH_LABEL] ?? "";
}

/** Revisions to delete: the oldest that no Pod has, above the limit. `old`: oldest first. */
export function planForgetting(
  old: readonly ControllerRevision[],
  { liveHashes, limit }: { readonly liveHashes: ReadonlySet<string>; readonly limit: number },
): readonly ControllerRevision[] {
  const surplus = Math.max(0, old.length - limit);
  return old.filter((revision) => !liveHashes.has(hashOf(revision))).slice(0, surplus);
}
