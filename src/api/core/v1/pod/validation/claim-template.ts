/**
 * The claim that is made for an ephemeral volume: its metadata, of which little may be said, and its spec, which is one like any other
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

/** In the order in which upstream looks at them. */
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

/** The claim's name follows from the pod's: only labels and annotations can be given. */
export function* validateTemplateMetadata(
  metadata: NonNullable<PersistentVolumeClaimTemplate["metadata"]>,
  at: string,
): Iterable<FieldError> {
  yield* validateAnnotations(metadata.annotations, `${at}.annotations`);
  yield* validateLabels(metadata.labels, `${at}.labels`);
  for (const name of FIXED_METADATA) {
    const value = (metadata as Readonly<Record<string, unknown>>)[name];
    // The path is made from what upstream's own type calls the field.
    if (value !== undefined && value !== null && value !== "") yield forbidden(`${at}.${name === "uid" ? "uID" : name}`, "cannot be set");
  }
}
