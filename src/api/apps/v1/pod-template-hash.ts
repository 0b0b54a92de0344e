/**
 * Template equality, and the pod-template-hash by which a Deployment distinguishes its ReplicaSets and their Pods, and a DaemonSet
 * its revisions. Equal templates have equal hashes, in any process and for any member order.
 *
 * The hash is upstream's: a 32-bit FNV-1a of the text that Go's dumper makes of the template, in decimal, encoded without vowels. Neither
 * upstream nor k8ts compares hashes to find the ReplicaSet or revision of a template, only the templates: one with another hash is kept.
 */
import { deepEqual } from "../../../base/deep.ts";
import { fnv1a32 } from "../../../base/crypto/fnv-1a.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import { goText } from "./go-text/go-text.ts";
import { encodeHash } from "./hash-text.ts";
import { isSameSpec } from "../../core/v1/pod/same-spec.ts";

/** The label with the hash, on ReplicaSets, in their selectors, and on Pods. */
export const POD_TEMPLATE_HASH_LABEL = "pod-template-hash";

/** `collisionCount` changes the hash of the same template, if the first one was taken by another ReplicaSet. */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number): string {
  return encodeHash(fnv1a32(goText(template), collisionCount === undefined ? [] : collisionBytes(collisionCount)));
}

/** An int32, lowest byte first, in the first half of eight bytes. */
function collisionBytes(count: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setUint32(0, count, true);
  return bytes;
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
