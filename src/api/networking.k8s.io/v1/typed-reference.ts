/** A reference to an object of any kind by group, kind and name, as Ingress and IngressClass have it: the rules that both share. */
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

/** Upstream shows a group that is absent as null, in references whose type always writes it. */
export function withGroup<Reference extends TypedReference>(reference: Reference): Reference {
  return withChanges<TypedReference>(reference, { apiGroup: reference.apiGroup ?? (null as never) }) as Reference;
}

/** What must be there, and must be able to stand in a path. */
export function* validateSegment(value: string, at: string): Iterable<FieldError> {
  if (value === "") yield required(at);
  for (const wrong of validatePathSegmentName(value)) yield invalid(at, value, wrong);
}
