/**
 * Validation of the claim template of an ephemeral volume: its metadata, of which little may be set, and its spec, which is an ordinary one
 * (persistent-volume-claim/validate-spec.ts).
 */
import type { EphemeralVolumeSource, PersistentVolumeClaimTemplate } from "../../../../generated/core/v1.ts";
import { forbidden, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateAnnotations, validateLabels } from "../../../../machinery/metadata-validation.ts";
import { validateClaimSpec } from "../../persistent-volume-claim/validate-spec.ts";

export function validateEphemeralVolume(errors: FieldErrors, { volumeClaimTemplate }: EphemeralVolumeSource, at: string): void {
  const here = `${at}.volumeClaimTemplate`;
  if (volumeClaimTemplate === undefined) return errors.add(required(here));
  validateTemplateMetadata(errors, volumeClaimTemplate.metadata ?? {}, `${here}.metadata`);
  errors.addAll(validateClaimSpec(volumeClaimTemplate.spec, `${here}.spec`));
}

/** In upstream's order. */
const FIXED_METADATA = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

/** The claim's name is derived from the Pod's: only labels and annotations can be set. */
export function validateTemplateMetadata(
  errors: FieldErrors,
  metadata: NonNullable<PersistentVolumeClaimTemplate["metadata"]>,
  at: string,
): void {
  validateAnnotations(errors, metadata.annotations, `${at}.annotations`);
  validateLabels(errors, metadata.labels, `${at}.labels`);
  for (const name of FIXED_METADATA) {
    const value = (metadata as Readonly<Record<string, unknown>>)[name];
    // The path contains the name of upstream's internal field.
    if (value !== undefined && value !== null && value !== "")
      errors.add(forbidden(`${at}.${name === "uid" ? "uID" : name}`, "cannot be set"));
  }
}
