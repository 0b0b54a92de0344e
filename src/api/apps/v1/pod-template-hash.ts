/**
 * Template equality, and the pod-template-hash by which a Deployment distinguishes its ReplicaSets and their Pods. Equal templates have
 * equal hashes, in any process and for any member order: a Deployment finds the ReplicaSets it created before.
 *
 * The hash has upstream's form (a 32-bit FNV-1a in decimal, encoded without vowels). Its value is our own: upstream hashes a dump of its Go
 * types, and never compares the hash either, only the templates.
 */
import { deepEqual } from "../../../base/deep.ts";
import { fnv1a32 } from "../../../base/fnv-1a.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import { writeStableJson } from "../../machinery/codec/stable-json.ts";
import { encodeHash } from "./hash-text.ts";
import { isSameSpec } from "../../core/v1/pod/same-spec.ts";

/** The label with the hash, on ReplicaSets, in their selectors, and on Pods. */
export const POD_TEMPLATE_HASH_LABEL = "pod-template-hash";

/** `collisionCount` changes the hash of the same template, if the first one was taken by another ReplicaSet. */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number): string {
  const text = writeStableJson(withoutHashLabel(template));
  return encodeHash(fnv1a32(collisionCount === undefined ? text : `${text}#${collisionCount}`));
}

/** True if they create equal Pods. The label is ignored. */
export function isSameTemplate(a: PodTemplateSpec, b: PodTemplateSpec): boolean {
  if (!deepEqual(withoutHashLabel(a).metadata ?? {}, withoutHashLabel(b).metadata ?? {})) return false;
  return a.spec === undefined || b.spec === undefined ? a.spec === b.spec : isSameSpec(a.spec, b.spec);
}

export function withoutHashLabel(template: PodTemplateSpec): PodTemplateSpec {
  const { metadata } = template;
  if (metadata?.labels?.[POD_TEMPLATE_HASH_LABEL] === undefined) return template;
  const { labels, ...rest } = metadata;
  const { [POD_TEMPLATE_HASH_LABEL]: _, ...others } = labels;
  return { ...template, metadata: Object.keys(others).length === 0 ? rest : { ...rest, labels: others } };
}
