/** What a PersistentVolume is given that it does not say. */
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

/** Of one that is no object of its own but a part of a VolumeAttachment, too. */
export function defaultInlineVolumeSpec(spec: PersistentVolumeSpec): PersistentVolumeSpec {
  // Sources are filled in where they stand, and everything else is left alone.
  return withChanges(defaultStorageSources(spec) as PersistentVolumeSpec, { capacity: changed(spec.capacity, roundedList) });
}
