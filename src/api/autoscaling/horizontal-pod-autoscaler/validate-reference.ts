/** Validation of references: the scale target, and the described objects of metrics. */
import type { CrossVersionObjectReference } from "../../generated/autoscaling/v2.ts";
import { child, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validatePathSegmentName } from "../../machinery/names.ts";

export interface ReferenceRules {
  /** "v1", without a group, is enough. */
  readonly allowsCoreGroup?: boolean;
  /** For objects stored before this was validated. */
  readonly allowsAnyApiVersion?: boolean;
}

export function* validateReference(reference: CrossVersionObjectReference, at: string, rules: ReferenceRules): Iterable<FieldError> {
  for (const field of ["kind", "name"] as const) {
    const text = reference[field] ?? "";
    if (text === "") yield required(child(at, field));
    else for (const wrong of validatePathSegmentName(text)) yield invalid(child(at, field), text, wrong);
  }
  const wrong = wrongWithApiVersion(reference, rules);
  if (wrong !== undefined) yield invalid(child(at, "apiVersion"), reference.apiVersion ?? "", wrong);
}

export function wrongWithApiVersion({ apiVersion = "" }: CrossVersionObjectReference, rules: ReferenceRules): string | undefined {
  if (rules.allowsAnyApiVersion === true) return undefined;
  const slashes = apiVersion.split("/").length - 1;
  if (slashes > 1) return `unexpected GroupVersion string: ${apiVersion}`;
  const hasGroup = slashes === 1 && !apiVersion.startsWith("/");
  return hasGroup || rules.allowsCoreGroup === true ? undefined : "apiVersion must specify API group";
}
