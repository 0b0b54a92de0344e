/**
 * The volumes that are attached, by key: a PersistentVolume by its name, and a volume that Pods name themselves by a hash of its identity. Volumes
 * of in-tree plugins are those of the CSI drivers that replace them. Without in-line volumes of CSI drivers, which are never attached.
 */
import { persistentVolumes } from "../../api/core/v1/persistent-volume.ts";
import { MigrationError, translatedInlineVolume, translatedVolume } from "../../api/core/v1/persistent-volume/csi-migration.ts";
import { migratedInlineSource } from "../../api/core/v1/persistent-volume/csi-source.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { PersistentVolume, Pod } from "../../api/generated/core/v1.ts";
import type { VolumeAttachment } from "../../api/generated/storage.k8s.io/v1.ts";
import { attachmentName } from "../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import { volumeAttachments } from "../../api/storage.k8s.io/v1/volume-attachment.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";

/** A volume of a CSI driver. */
export interface AttachableVolume {
  readonly key: string;
  /** With the source of its driver. */
  readonly object: PersistentVolume;
  /** Pods name it themselves. */
  readonly isInline: boolean;
  /** Its source was that of an in-tree plugin. */
  readonly isMigrated: boolean;
}

export const attachmentsByVolume = defineIndex(volumeAttachments, (attachment) => {
  const key = keyOfAttachment(attachment);
  return key === undefined ? [] : [key];
});

export const podsByInlineVolume = defineIndex(pods, inlineKeys);

export function keyOfAttachment({ spec: { source } }: VolumeAttachment): string | undefined {
  const { persistentVolumeName, inlineVolumeSpec } = source;
  return persistentVolumeName ?? (inlineVolumeSpec?.csi === undefined ? undefined : keyOfSource(inlineVolumeSpec.csi));
}

/** Of the volumes that the Pod names itself. Hot path (called for every version of every Pod). */
export function inlineKeys({ metadata, spec }: Pod): readonly string[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    const migrated = migratedInlineSource(volume, metadata.namespace ?? "");
    return migrated === undefined || "problem" in migrated ? [] : [keyOfSource(migrated.csi)];
  });
}

/** No PersistentVolume has such a name. A hash, because handles have slashes, which keys must not have. */
function keyOfSource({ driver, volumeHandle }: { readonly driver: string; readonly volumeHandle: string }): string {
  return `^${attachmentName({ driver, handle: volumeHandle }, "")}`;
}

/** Undefined if it does not exist, or is not attached by its kind. An in-line volume exists while a Pod or an attachment names it. */
export function attachableVolume(key: string, read: Reader): AttachableVolume | undefined {
  const volume = read.get(persistentVolumes, { name: key });
  if (volume !== undefined) {
    const object = csiVolume(volume);
    return object === undefined ? undefined : { key, object, isInline: false, isMigrated: object !== volume };
  }
  const object = inlineVolume(key, read);
  return object === undefined ? undefined : { key, object, isInline: true, isMigrated: true };
}

/** As its driver knows it; undefined if it has no driver, or if the driver has no such volumes. */
export function csiVolume(volume: PersistentVolume): PersistentVolume | undefined {
  try {
    const translated = translatedVolume(volume);
    return translated.spec?.csi === undefined ? undefined : translated;
  } catch (error) {
    if (error instanceof MigrationError) return undefined; // The kubelet reports it.
    throw error;
  }
}

function inlineVolume(key: string, read: Reader): PersistentVolume | undefined {
  for (const { metadata, spec } of read.indexed(podsByInlineVolume, key)) {
    const { namespace = "" } = metadata;
    const volume = spec?.volumes?.find((each) => {
      const migrated = migratedInlineSource(each, namespace);
      return migrated !== undefined && "csi" in migrated && keyOfSource(migrated.csi) === key;
    });
    if (volume !== undefined) return translatedInlineVolume(volume, namespace);
  }
  const [attachment] = read.indexed(attachmentsByVolume, key);
  const spec = attachment?.spec.source.inlineVolumeSpec;
  return spec === undefined ? undefined : { apiVersion: "v1", kind: "PersistentVolume", metadata: { name: key }, spec };
}
