/** Validation of a Pod as a whole, beyond its metadata: annotations, spec, and fields that only an existing Pod may have. */
import type { Pod, PodSpec } from "../../../../generated/core/v1.ts";
import { forbidden } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validatePodAnnotations, validateProfilesMatch } from "./annotations.ts";
import { validateImageSpaces } from "./containers.ts";
import { validatePodSpec } from "./spec.ts";

const NO_SPEC: PodSpec = { containers: [] };

/** A Pod without a spec is validated with an empty one. */
export function specOf(pod: Pod): PodSpec {
  return pod.spec ?? NO_SPEC;
}

/** Identical parts were validated before. */
export function validatePod(errors: FieldErrors, pod: Pod, previous?: Pod): void {
  const spec = specOf(pod);
  const { annotations } = pod.metadata;
  const isSameSpec = previous !== undefined && previous.spec === pod.spec;
  if (annotations !== undefined && !(isSameSpec && annotations === previous.metadata.annotations)) {
    validatePodAnnotations(errors, annotations, spec, "metadata.annotations");
  }
  if (!isSameSpec) validateSpecOfPod(errors, pod);
  if (previous === undefined) validateCreate(errors, pod);
}

/** Also for the subresources that write only a part of the spec. */
export function validateSpecOfPod(errors: FieldErrors, pod: Pod): void {
  const spec = specOf(pod);
  validatePodSpec(errors, spec, "spec", pod.metadata);
  if (!spec.serviceAccountName) validateNoTokens(errors, spec);
  for (const member of ["containers", "initContainers"] as const) {
    for (const [index, container] of (spec[member] ?? []).entries()) validateImageSpaces(errors, container, `spec.${member}[${index}]`);
  }
}

/** A projected token needs a service account. A template may leave that to admission, a Pod has passed it. */
function validateNoTokens(errors: FieldErrors, spec: PodSpec): void {
  for (const [index, { projected }] of (spec.volumes ?? []).entries()) {
    for (const [position, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const at = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`;
      errors.add(forbidden(at, "must not be specified when serviceAccountName is not set"));
    }
  }
}

function validateCreate(errors: FieldErrors, pod: Pod): void {
  const spec = specOf(pod);
  if ((spec.ephemeralContainers ?? []).length > 0) errors.add(forbidden("spec.ephemeralContainers", "cannot be set on create"));
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    errors.add(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"));
  }
  validateProfilesMatch(errors, pod.metadata.annotations, spec, "spec");
}
