/** Defaults of a PersistentVolume. */
import { changed, withChanges } from "../../../changes.ts";
import type { PersistentVolume, PersistentVolumeSpec } from "../../../generated/core/v1.ts";
import { roundedList } from "../pod/defaults/resources.ts";
import { defaultStorageSources } from "../pod/defaults/volume.ts";

export function defaultVolume(volume: PersistentVolume): PersistentVolume {
  const { status = {} } = volume;
  return withChanges(volume, {
    spec: defaultSpec(volume.spec ?? {}),
    status: withChanges(status, { phase: status.phase || "Pending" }),
  });
}

function defaultSpec(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  return withChanges(defaultInlineVolumeSpec(spec), {
    persistentVolumeReclaimPolicy: spec.persistentVolumeReclaimPolicy || "Retain",
    volumeMode: spec.volumeMode ?? "Filesystem",
  });
}

/** Also of an inline volume spec in a VolumeAttachment. */
export function defaultInlineVolumeSpec(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  // Only the source gets defaults; everything else stays.
  return withChanges(defaultStorageSources(spec) as PersistentVolumeSpec, { capacity: changed(spec.capacity, roundedList) });
}
