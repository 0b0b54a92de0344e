/**
 * Validation of the claim template of an ephemeral volume: its metadata, of which little may be set, and its spec, which is an ordinary one
 * (persistent-volume-claim/validate-spec.ts).
 */
import type { EphemeralVolumeSource, PersistentVolumeClaimTemplate } from "../../../../generated/core/v1.ts";
import { forbidden, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateAnnotations, validateLabels } from "../../../../machinery/metadata-validation.ts";
import { validateClaimSpec } from "../../persistent-volume-claim/validate-spec.ts";

export function* validateEphemeralVolume({ volumeClaimTemplate }: EphemeralVolumeSource, at: string): Iterable<FieldError> {
  const here = `${at}.volumeClaimTemplate`;
  if (volumeClaimTemplate === undefined) return yield required(here);
  yield* validateTemplateMetadata(volumeClaimTemplate.metadata ?? {}, `${here}.metadata`);
  yield* validateClaimSpec(volumeClaimTemplate.spec, `${here}.spec`);
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
export function* validateTemplateMetadata(
  metadata: NonNullable<PersistentVolumeClaimTemplate["metadata"]>,
  at: string,
): Iterable<FieldError> {
  yield* validateAnnotations(metadata.annotations, `${at}.annotations`);
  yield* validateLabels(metadata.labels, `${at}.labels`);
  for (const name of FIXED_METADATA) {
    const value = (metadata as Readonly<Record<string, unknown>>)[name];
    // The path contains the name of upstream's internal field.
    if (value !== undefined && value !== null && value !== "") yield forbidden(`${at}.${name === "uid" ? "uID" : name}`, "cannot be set");
  }
}
