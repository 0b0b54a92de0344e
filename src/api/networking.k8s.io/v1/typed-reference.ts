/** A reference to an object of any kind by group, kind and name, in Ingress and IngressClass: their shared rules. */
import { withChanges } from "../../changes.ts";
import { child, invalid, required, type FieldError } from "../../machinery/field-error.ts";
import { validateDnsSubdomain, validatePathSegmentName } from "../../machinery/names.ts";

export interface TypedReference {
  readonly apiGroup?: string;
  readonly kind: string;
  readonly name: string;
}

export function* validateTypedReference({ apiGroup, kind, name }: TypedReference, at: string): Iterable<FieldError> {
  // It may be null: see withGroup.
  if (typeof apiGroup === "string")
    for (const wrong of validateDnsSubdomain(apiGroup)) yield invalid(child(at, "apiGroup"), apiGroup, wrong);
  yield* validateSegment(kind, child(at, "kind"));
  yield* validateSegment(name, child(at, "name"));
}

/** Upstream writes an absent group as null, in references whose type always writes it. */
export function withGroup<Reference extends TypedReference>(reference: Reference): Reference {
  return withChanges<TypedReference>(reference, { apiGroup: reference.apiGroup ?? (null as never) }) as Reference;
}

/** Required, and a valid path segment. */
export function* validateSegment(value: string, at: string): Iterable<FieldError> {
  if (value === "") yield required(at);
  for (const wrong of validatePathSegmentName(value)) yield invalid(at, value, wrong);
}
