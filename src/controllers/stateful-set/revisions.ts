/**
 * The revisions of a StatefulSet: which ControllerRevision its template is (a new one, the latest one, or an old one to which it was rolled
 * back), and which are forgotten. Names and hashes are upstream's. Pure.
 */
import { encodeHash } from "../../api/apps/v1/hash-text.ts";
import { defaultPodTemplate } from "../../api/core/v1/pod/defaults/pod.ts";
import type { ControllerRevision, StatefulSet, StatefulSetSpec } from "../../api/generated/apps/v1.ts";
import type { PodTemplateSpec } from "../../api/generated/core/v1.ts";
import { fnv1Hash32 } from "../../base/crypto/fnv-1a.ts";
import { controlledBy } from "../runtime/keys.ts";
import { nextRevisionNumber } from "../shared/revisions/history.ts";
import { revisionData, revisionText, templateOf, textOf } from "../shared/revisions/revision-data.ts";

const HASH_LABEL = "controller.kubernetes.io/hash";
/** With it a name has at most 253 characters, upstream's limit for names. */
const NAME_PREFIX_LENGTH_MAX = 223;

export type RevisionStep =
  /** The template has not changed. */
  | { readonly does: "use"; readonly revision: ControllerRevision }
  /** Rolled back: the old revision becomes the latest. */
  | { readonly does: "renumber"; readonly revision: ControllerRevision; readonly number: number }
  | { readonly does: "create"; readonly number: number };

/** `revisions`: oldest first. */
export function planUpdateRevision(spec: StatefulSetSpec, revisions: readonly ControllerRevision[]): RevisionStep {
  const latest = revisions.at(-1);
  const text = revisionText(spec.template);
  const number = nextRevisionNumber(revisions);
  const equal = revisions.findLast((revision) => textOf(revision) === text);
  if (latest !== undefined && equal !== undefined && textOf(latest) === text) return { does: "use", revision: latest };
  if (equal !== undefined) return { does: "renumber", revision: equal, number };
  if (latest !== undefined && restores(latest, text)) return { does: "use", revision: latest };
  return { does: "create", number };
}

/** True if the revision lacks only fields that have defaults by now: restoring it would change nothing. */
function restores(revision: ControllerRevision, text: string): boolean {
  const template = templateOf(revision);
  return template !== undefined && revisionText(defaultPodTemplate(template)) === text;
}

/** A new revision. Each `collisionCount` gives another name, for a name that something else has taken. */
export function newRevision(set: StatefulSet, template: PodTemplateSpec, number: number, collisionCount: number): ControllerRevision {
  const { name, namespace, annotations } = set.metadata;
  const hash = encodeHash(fnv1Hash32(`${revisionText(template)}${collisionCount}`));
  return {
    apiVersion: "apps/v1",
    kind: "ControllerRevision",
    metadata: {
      name: `${name.slice(0, NAME_PREFIX_LENGTH_MAX)}-${hash}`,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ...(annotations === undefined ? {} : { annotations }),
      ownerReferences: [controlledBy(set)],
    },
    data: revisionData(template),
    revision: number,
  };
}

export interface LiveRevisions {
  readonly current: string;
  readonly update: string;
  /** Revisions of Pods. */
  readonly ofPods: ReadonlySet<string>;
}

/** Revisions to delete: the oldest that are not in use, above the limit. A negative limit keeps all. */
export function planForgetting(
  revisions: readonly ControllerRevision[],
  live: LiveRevisions,
  limit: number,
): readonly ControllerRevision[] {
  const unused = revisions.filter(({ metadata: { name } }) => name !== live.current && name !== live.update && !live.ofPods.has(name));
  return limit < 0 ? [] : unused.slice(0, Math.max(0, unused.length - limit));
}
