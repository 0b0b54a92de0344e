/** Warnings about a claim that is valid but probably a mistake. */
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from "../../../generated/core/v1.ts";
import { STORAGE_CLASS_ANNOTATION, STORAGE_CLASS_ANNOTATION_WARNING } from "../persistent-storage.ts";
import { fractionWarnings } from "../pod/fractions.ts";
import { warningsOf } from "../../../machinery/findings.ts";

export function* claimWarnings({ metadata, spec = {} }: PersistentVolumeClaim): Iterable<string> {
  if (metadata.annotations?.[STORAGE_CLASS_ANNOTATION] !== undefined) yield STORAGE_CLASS_ANNOTATION_WARNING;
  yield* claimSpecWarnings(spec, "spec");
}

export function* claimSpecWarnings({ resources = {} }: PersistentVolumeClaimSpec, at: string): Iterable<string> {
  yield* warningsOf((warnings) => fractionWarnings(warnings, resources.requests, `${at}.resources.requests`, ["storage"]));
  yield* warningsOf((warnings) => fractionWarnings(warnings, resources.limits, `${at}.resources.limits`, ["storage"]));
}
