/** Deprecation warnings about a PersistentVolume. */
import type { PersistentVolume, PersistentVolumeSource } from "../../../generated/core/v1.ts";
import { nodeSelectorTermWarnings } from "../node/label-warnings.ts";
import { DEPRECATED_SOURCES } from "../pod/warnings/volume.ts";
import { annotationWarnings } from "./annotations.ts";
import { warningsOf } from "../../../machinery/findings.ts";

/** In upstream's order; the other sources have no warning here. */
const WARNED_SOURCES = [
  "cephfs",
  "photonPersistentDisk",
  "scaleIO",
  "storageos",
  "glusterfs",
  "rbd",
] as const satisfies readonly (keyof PersistentVolumeSource)[];

export function* volumeWarnings({ metadata, spec = {} }: PersistentVolume): Iterable<string> {
  yield* annotationWarnings(metadata.annotations);
  if (spec.persistentVolumeReclaimPolicy === "Recycle") {
    yield "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.";
  }
  for (const [index, term] of (spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries()) {
    yield* warningsOf((warnings) => nodeSelectorTermWarnings(warnings, term, `spec.nodeAffinity.required.nodeSelectorTerms[${index}]`));
  }
  for (const source of WARNED_SOURCES) if (spec[source] !== undefined) yield* deprecation(source);
}

function* deprecation(source: keyof PersistentVolumeSource): Iterable<string> {
  for (const deprecated of DEPRECATED_SOURCES) {
    if (deprecated.source === source) yield `spec.${"as" in deprecated ? deprecated.as : source}: ${deprecated.message}`;
  }
}
