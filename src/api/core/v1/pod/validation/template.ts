/** Validation of a Pod template, in any workload. Not here: that its labels match the workload's selector. */
import type { PodSpec, PodTemplateSpec } from "../../../../generated/core/v1.ts";
import { forbidden } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateAnnotations, validateLabels } from "../../../../machinery/metadata-validation.ts";
import { validatePodAnnotations, validateProfilesMatch } from "./annotations.ts";
import { validatePodSpec } from "./spec.ts";

const NO_SPEC: PodSpec = { containers: [] };

/** `previous` is the template before an update: an identical one has been validated already. */
export function validatePodTemplateSpec(errors: FieldErrors, template: PodTemplateSpec, at: string, previous?: PodTemplateSpec): void {
  if (template === previous) return;
  const { metadata = {}, spec = NO_SPEC } = template;
  validateLabels(errors, metadata.labels, `${at}.labels`);
  validateAnnotations(errors, metadata.annotations, `${at}.annotations`);
  validatePodAnnotations(errors, metadata.annotations ?? {}, spec, `${at}.annotations`);
  validatePodSpec(errors, spec, `${at}.spec`);
  validateProfilesMatch(errors, metadata.annotations, spec, `${at}.spec`);
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.add(forbidden(`${at}.spec.ephemeralContainers`, "ephemeral containers not allowed in pod template"));
  }
}
