/** Validation of a Pod template, in any workload. Not here: that its labels match the workload's selector. */
import type { PodSpec, PodTemplateSpec } from "../../../../generated/core/v1.ts";
import { forbidden, type FieldError } from "../../../../machinery/field-error.ts";
import { validateAnnotations, validateLabels } from "../../../../machinery/metadata-validation.ts";
import { validatePodAnnotations, validateProfilesMatch } from "./annotations.ts";
import { validatePodSpec } from "./spec.ts";

const NO_SPEC: PodSpec = { containers: [] };

/** `previous` is the template before an update: an identical one has been validated already. */
export function* validatePodTemplateSpec(template: PodTemplateSpec, at: string, previous?: PodTemplateSpec): Iterable<FieldError> {
  if (template === previous) return;
  const { metadata = {}, spec = NO_SPEC } = template;
  yield* validateLabels(metadata.labels, `${at}.labels`);
  yield* validateAnnotations(metadata.annotations, `${at}.annotations`);
  yield* validatePodAnnotations(metadata.annotations ?? {}, spec, `${at}.annotations`);
  yield* validatePodSpec(spec, `${at}.spec`);
  yield* validateProfilesMatch(metadata.annotations, spec, `${at}.spec`);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    yield forbidden(`${at}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template");
  }
}
