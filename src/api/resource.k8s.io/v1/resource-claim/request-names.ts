/**
 * The names of a claim's requests, which constraints, configuration and results reference: "gpu", or "gpu/large" for one of the
 * alternatives of a request.
 */
import { dnsLabel } from "../../../core/v1/pod/validation/checks.ts";
import type { DeviceClaim } from "../../../generated/resource.k8s.io/v1.ts";
import { invalid, type FieldError } from "../../../machinery/field-error.ts";
import { validateSet } from "../limited-lists.ts";

/** Maximum results of an allocation. */
export const REQUESTS_MAX = 32;

/** Every name that can be referenced. */
export type RequestNames = ReadonlySet<string>;

export function requestNamesOf(claim: DeviceClaim | undefined): RequestNames {
  const names = new Set<string>();
  for (const { name, firstAvailable } of claim?.requests ?? []) {
    names.add(name);
    for (const alternative of firstAvailable ?? []) names.add(`${name}/${alternative.name}`);
  }
  return names;
}

export function validateRequestReferences(
  references: readonly string[] | undefined,
  names: RequestNames,
  at: string,
): Iterable<FieldError> {
  const validate = (reference: string, here: string): Iterable<FieldError> => validateRequestReference(reference, names, here);
  return validateSet(references, { max: REQUESTS_MAX, validate, keyOf: (reference) => reference }, at);
}

export function* validateRequestReference(reference: string, names: RequestNames, at: string): Iterable<FieldError> {
  const segments = reference.split("/");
  const isPath = segments.length <= 2;
  if (isPath) for (const segment of segments) yield* dnsLabel(segment, at);
  if (isPath && names.has(reference)) return;
  yield invalid(at, reference, "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'");
}
