/** Enumerations that webhooks and policies share: failure policy, reinvocation policy, and names reserved for static manifests. */
import { child, notSupported, type FieldError } from "../../machinery/field-error.ts";

const FAILURE_POLICIES: readonly string[] = ["Fail", "Ignore"];
const REINVOCATION_POLICIES: readonly string[] = ["IfNeeded", "Never"];

export function* validateFailurePolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (policy !== undefined && !FAILURE_POLICIES.includes(policy)) yield notSupported(child(at, "failurePolicy"), policy, FAILURE_POLICIES);
}

export function* validateReinvocationPolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (policy === undefined || REINVOCATION_POLICIES.includes(policy)) return;
  yield notSupported(child(at, "reinvocationPolicy"), policy, REINVOCATION_POLICIES);
}

/** Suffix of names reserved for configurations that a server reads from files. */
const STATIC_SUFFIX = ".static.k8s.io";

export function staticNameWarnings({ metadata }: { readonly metadata: { readonly name: string } }): readonly string[] {
  if (!metadata.name.endsWith(STATIC_SUFFIX)) return [];
  return [
    `metadata.name: names ending with "${STATIC_SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}
