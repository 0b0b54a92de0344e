/**
 * Which templates are the same, and the short word by which a Deployment tells its ReplicaSets and their Pods apart. Templates with the
 * same content have the same word, in any process and whatever the order of their members: a Deployment finds what it made before.
 *
 * The word has upstream's form (a 32-bit FNV-1a in decimal, spelled without vowels). Its value is our own: upstream hashes a dump of its
 * Go types, and never compares the word either, only the templates.
 */
import { deepEqual } from "../../../base/deep.ts";
import { fnv1a32 } from "../../../base/fnv-1a.ts";
import type { PodTemplateSpec } from "../../generated/core/v1.ts";
import { writeStableJson } from "../../machinery/codec/stable-json.ts";
import { isSameSpec } from "../../core/v1/pod/same-spec.ts";

/** The label that holds the word, on ReplicaSets, in their selectors, and on Pods. */
export const POD_TEMPLATE_HASH_LABEL = "pod-template-hash";

/** Upstream's letters for generated names: no vowels, and no digits that look like them, so that no word comes out. */
const LETTERS = "bcdfghjklmnpqrstvwxz2456789";

/** `collisionCount` gives another word for the same template, where the first was taken by somebody else. */
export function podTemplateHash(template: PodTemplateSpec, collisionCount?: number): string {
  const text = writeStableJson(withoutHashLabel(template));
  return spell(fnv1a32(collisionCount === undefined ? text : `${text}#${collisionCount}`).toString());
}

/** Upstream's SafeEncodeString: one letter for each character. */
function spell(digits: string): string {
  return Array.from(digits, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length)).join("");
}

/** Whether they make the same Pods. The label is not part of what somebody asked for. */
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
