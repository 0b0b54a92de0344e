/** Validation of a Pod as a whole, beyond its metadata: annotations, spec, and fields that only an existing Pod may have. */
import type { Pod, PodSpec } from "../../../../generated/core/v1.ts";
import { forbidden, type FieldError } from "../../../../machinery/field-error.ts";
import { validatePodAnnotations, validateProfilesMatch } from "./annotations.ts";
import { validateImageSpaces } from "./containers.ts";
import { validatePodSpec } from "./spec.ts";

const NO_SPEC: PodSpec = { containers: [] };

/** A Pod without a spec is validated with an empty one. */
export function specOf(pod: Pod): PodSpec {
  return pod.spec ?? NO_SPEC;
}

/** Identical parts were validated before. */
export function* validatePod(pod: Pod, previous?: Pod): Iterable<FieldError> {
  const spec = specOf(pod);
  const { annotations } = pod.metadata;
  const isSameSpec = previous !== undefined && previous.spec === pod.spec;
  if (annotations !== undefined && !(isSameSpec && annotations === previous.metadata.annotations)) {
    yield* validatePodAnnotations(annotations, spec, "metadata.annotations");
  }
  if (!isSameSpec) yield* validateSpecOfPod(pod);
  if (previous === undefined) yield* validateCreate(pod);
}

/** Also for the subresources that write only a part of the spec. */
export function* validateSpecOfPod(pod: Pod): Iterable<FieldError> {
  const spec = specOf(pod);
  yield* validatePodSpec(spec, "spec", pod.metadata);
  if (!spec.serviceAccountName) yield* validateNoTokens(spec);
  for (const member of ["containers", "initContainers"] as const) {
    for (const [index, container] of (spec[member] ?? []).entries()) yield* validateImageSpaces(container, `spec.${member}[${index}]`);
  }
}

/** A projected token needs a service account. A template may leave that to admission, a Pod has passed it. */
function* validateNoTokens(spec: PodSpec): Iterable<FieldError> {
  for (const [index, { projected }] of (spec.volumes ?? []).entries()) {
    for (const [position, { serviceAccountToken }] of (projected?.sources ?? []).entries()) {
      if (serviceAccountToken === undefined) continue;
      const at = `spec.volumes[${index}].projected.sources[${position}].serviceAccountToken`;
      yield forbidden(at, "must not be specified when serviceAccountName is not set");
    }
  }
}

function* validateCreate(pod: Pod): Iterable<FieldError> {
  const spec = specOf(pod);
  if ((spec.ephemeralContainers ?? []).length > 0) yield forbidden("spec.ephemeralContainers", "cannot be set on create");
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
  }
  yield* validateProfilesMatch(pod.metadata.annotations, spec, "spec");
}
