/** Defaults of a volume, by its source. */
import type {
  AzureDiskVolumeSource,
  DownwardAPIVolumeFile,
  EphemeralVolumeSource,
  ISCSIVolumeSource,
  ProjectedVolumeSource,
  RBDVolumeSource,
  ScaleIOVolumeSource,
  Volume,
  VolumeProjection,
} from "../../../../generated/core/v1.ts";
import { changed, changedItems, withChanges } from "../../../../changes.ts";
import { defaultFieldRef } from "./container.ts";
import { defaultPullPolicy } from "../image-tag.ts";
import { defaultClaimSpec } from "../../persistent-volume-claim/defaults.ts";

/** Readable by all, writable by the owner: 0644. */
const FILE_MODE = 0o644;
/** Lifetime of a projected service account token: an hour. */
const TOKEN_EXPIRATION_SECONDS = 3_600;

export function defaultVolume(volume: Volume): Volume {
  if (!hasSource(volume)) return withChanges(volume, { emptyDir: {} });
  // Only the source changes: the name stays, so it is still a volume.
  return withChanges(defaultStorageSources(volume) as Volume, {
    secret: changed(volume.secret, defaultMode),
    configMap: changed(volume.configMap, defaultMode),
    projected: changed(volume.projected, defaultProjected),
    downwardAPI: changed(volume.downwardAPI, (source) =>
      withChanges(defaultMode(source), { items: changedItems(source.items, defaultFile) }),
    ),
    ephemeral: changed(volume.ephemeral, defaultEphemeral),
    image: changed(volume.image, (source) =>
      withChanges(source, { pullPolicy: source.pullPolicy || defaultPullPolicy(source.reference ?? "") }),
    ),
  });
}

/** The sources with defaults that PersistentVolumes share. */
type StorageSources = Pick<Volume, "hostPath" | "iscsi" | "rbd" | "azureDisk" | "scaleIO">;

/** All other members stay unchanged. */
export function defaultStorageSources(sources: StorageSources): StorageSources {
  return withChanges(sources, {
    hostPath: changed(sources.hostPath, (source) => withChanges(source, { type: source.type ?? "" })),
    iscsi: changed(sources.iscsi, defaultIscsi),
    rbd: changed(sources.rbd, defaultRbd),
    azureDisk: changed(sources.azureDisk, defaultAzureDisk),
    scaleIO: changed(sources.scaleIO, defaultScaleIo),
  });
}

function hasSource(volume: Volume): boolean {
  for (const member in volume) if (member !== "name" && volume[member as keyof Volume] !== undefined) return true;
  return false;
}

function defaultMode<Source extends { readonly defaultMode?: number }>(source: Source): Source {
  return source.defaultMode === undefined ? Object.assign({}, source, { defaultMode: FILE_MODE }) : source;
}

function defaultProjected(source: ProjectedVolumeSource): ProjectedVolumeSource {
  return withChanges(defaultMode(source), { sources: changedItems(source.sources, defaultProjection) });
}

function defaultProjection(source: VolumeProjection): VolumeProjection {
  return withChanges(source, {
    downwardAPI: changed(source.downwardAPI, (downward) => withChanges(downward, { items: changedItems(downward.items, defaultFile) })),
    serviceAccountToken: changed(source.serviceAccountToken, (token) =>
      withChanges(token, { expirationSeconds: token.expirationSeconds ?? TOKEN_EXPIRATION_SECONDS }),
    ),
  });
}

function defaultFile(file: DownwardAPIVolumeFile): DownwardAPIVolumeFile {
  return withChanges(file, { fieldRef: changed(file.fieldRef, defaultFieldRef) });
}

function defaultEphemeral(source: EphemeralVolumeSource): EphemeralVolumeSource {
  return withChanges(source, {
    volumeClaimTemplate: changed(source.volumeClaimTemplate, (template) =>
      withChanges(template, { spec: defaultClaimSpec(template.spec) }),
    ),
  });
}

function defaultIscsi(source: ISCSIVolumeSource): ISCSIVolumeSource {
  return withChanges(source, { iscsiInterface: source.iscsiInterface || "default" });
}

function defaultRbd(source: RBDVolumeSource): RBDVolumeSource {
  return withChanges(source, {
    pool: source.pool || "rbd",
    user: source.user || "admin",
    keyring: source.keyring || "/etc/ceph/keyring",
  });
}

function defaultAzureDisk(source: AzureDiskVolumeSource): AzureDiskVolumeSource {
  return withChanges(source, {
    cachingMode: source.cachingMode ?? "ReadWrite",
    fsType: source.fsType ?? "ext4",
    readOnly: source.readOnly ?? false,
    kind: source.kind ?? "Shared",
  });
}

function defaultScaleIo(source: ScaleIOVolumeSource): ScaleIOVolumeSource {
  return withChanges(source, { storageMode: source.storageMode || "ThinProvisioned", fsType: source.fsType || "xfs" });
}
