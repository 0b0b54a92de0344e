/**
 * The CSI source that replaces the source of a migrated in-tree plugin: driver, handle, attributes and Secrets as upstream derives them, since
 * the driver, its sidecars and other components must find the same volume. Pure.
 */
import type { CSIPersistentVolumeSource, PersistentVolume, PersistentVolumeSpec, Volume } from "../../../generated/core/v1.ts";
import { ZONE_LABEL, ZONE_LABEL_BETA } from "../node/zone-labels.ts";
import { MIGRATED_PLUGINS } from "./migrated-plugins.ts";

/** An in-tree volume as its driver knows it. `problem`: it has no counterpart. */
export type MigratedSource =
  | { readonly plugin: string; readonly csi: CSIPersistentVolumeSource }
  | { readonly plugin: string; readonly problem: string };

/** What a volume says besides its source. */
interface Surroundings {
  /** Of the PersistentVolume, or of the volume in the Pod. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Of the claim or Pod. */
  readonly namespace: string | undefined;
}

/** What volumes in Pods and PersistentVolumes have in common. */
type InTreeSources = Pick<Volume | PersistentVolumeSpec, (typeof MIGRATED_PLUGINS)[number]["source"]>;

/** Undefined if no driver replaces the volume's plugin. */
export function migratedSource({ metadata, spec }: PersistentVolume): MigratedSource | undefined {
  const { name, labels = {}, annotations = {} } = metadata;
  return spec === undefined ? undefined : migrated(spec, { name, labels, annotations, namespace: spec.claimRef?.namespace });
}

/** The same for a volume in a Pod of the namespace, which also has the Secrets. */
export function migratedInlineSource(volume: Volume, namespace: string): MigratedSource | undefined {
  return migrated(volume, { name: volume.name, labels: {}, annotations: {}, namespace });
}

/** Hot path (called for the volumes of every Pod): most have no migrated source. */
function migrated(sources: InTreeSources, about: Surroundings): MigratedSource | undefined {
  const found = MIGRATED_PLUGINS.find(({ source }) => sources[source] !== undefined);
  if (found === undefined) return undefined;
  const { plugin, driver } = found;
  try {
    return { plugin, csi: { driver, ...sourceOf(sources, about) } };
  } catch (error) {
    if (error instanceof Untranslatable) return { plugin, problem: error.message };
    throw error;
  }
}

type DriverSource = Omit<CSIPersistentVolumeSource, "driver">;

class Untranslatable extends Error {}

function sourceOf(sources: InTreeSources, about: Surroundings): DriverSource {
  const { awsElasticBlockStore, gcePersistentDisk, azureDisk, azureFile, cinder, vsphereVolume, portworxVolume } = sources;
  if (awsElasticBlockStore !== undefined) {
    const { volumeID, partition = 0 } = awsElasticBlockStore;
    return { volumeHandle: ebsHandle(volumeID), ...fileSystem(awsElasticBlockStore), volumeAttributes: { partition: String(partition) } };
  }
  if (gcePersistentDisk !== undefined) {
    const { pdName, partition = 0 } = gcePersistentDisk;
    const volumeAttributes = { partition: partition === 0 ? "" : String(partition) };
    return { volumeHandle: gceHandle(pdName, about.labels), ...fileSystem(gcePersistentDisk), volumeAttributes };
  }
  if (azureDisk !== undefined) return azureDiskSource(azureDisk);
  if (azureFile !== undefined) return azureFileSource(azureFile, about);
  if (cinder !== undefined) return { volumeHandle: cinder.volumeID, ...fileSystem(cinder) };
  if (vsphereVolume !== undefined) {
    const { volumePath, fsType, storagePolicyName = "" } = vsphereVolume;
    const volumeAttributes = storagePolicyName === "" ? {} : { volumeAttributes: { storagepolicyname: storagePolicyName } };
    return { volumeHandle: volumePath, ...fileSystem({ fsType }), ...volumeAttributes };
  }
  const { volumeID = "", fsType } = portworxVolume ?? {};
  return { volumeHandle: volumeID, ...fileSystem({ fsType }), ...portworxSecrets(about.annotations) };
}

function fileSystem({ fsType, readOnly }: { readonly fsType?: string | undefined; readonly readOnly?: boolean | undefined }) {
  return { ...(fsType === undefined ? {} : { fsType }), ...(readOnly === undefined ? {} : { readOnly }) };
}

/** "aws://<zone>/<id>" or the id alone. */
function ebsHandle(volumeID: string): string {
  if (!volumeID.startsWith("aws://")) return volumeID;
  const id = /^aws:\/\/[^/]*\/+(?<id>vol-[^/]*)\/*$/.exec(volumeID)?.groups?.["id"];
  if (id === undefined)
    throw new Untranslatable(`failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (${volumeID})`);
  return id;
}

/** The driver completes what is unspecified. "a__b": a disk that is replicated over both zones of a region. */
function gceHandle(pdName: string, labels: Readonly<Record<string, string>>): string {
  const beta = labels[ZONE_LABEL_BETA] ?? "";
  const zones = (beta === "" ? (labels[ZONE_LABEL] ?? "") : beta).split("__");
  if (zones.length === 1) return `projects/UNSPECIFIED/zones/${zones[0] === "" ? "UNSPECIFIED" : zones[0]}/disks/${pdName}`;
  const regions = new Set(zones.map((zone) => zone.split("-").slice(0, 2).join("-")));
  const odd = zones.find((zone) => zone.split("-").length !== 3);
  const start = "failed to get region from zones: ";
  if (odd !== undefined) throw new Untranslatable(`${start}zone in unexpected format, expected: {locale}-{region}-{zone}, got: ${odd}`);
  if (regions.size !== 1) throw new Untranslatable(`${start}multiple or no regions gotten from zones, got: ${[...regions].join(" ")}`);
  return `projects/UNSPECIFIED/regions/${[...regions].join("")}/disks/${pdName}`;
}

/** The driver has disks of the kind Managed only. */
function azureDiskSource({ kind, cachingMode, diskURI, ...rest }: NonNullable<InTreeSources["azureDisk"]>): DriverSource {
  if (kind !== undefined && kind.toLowerCase() !== "managed") throw new Untranslatable(`kind(${kind}) is not supported in csi migration`);
  return {
    volumeHandle: diskURI,
    ...fileSystem(rest),
    volumeAttributes: {
      kind: "Managed",
      ...(cachingMode === undefined ? {} : { cachingmode: cachingMode }),
      ...(rest.fsType === undefined ? {} : { fstype: rest.fsType }),
    },
  };
}

const RESOURCE_GROUP = "kubernetes.io/azure-file-resource-group";

function azureFileSource(source: NonNullable<InTreeSources["azureFile"]>, { name, annotations, namespace }: Surroundings): DriverSource {
  const { secretName, shareName, readOnly } = source;
  const secretNamespace = ("secretNamespace" in source ? source.secretNamespace : undefined) ?? namespace ?? "";
  if (secretNamespace === "") throw new Untranslatable("could not find a secret namespace in PersistentVolumeSource or ClaimRef");
  const account = /azure-storage-account-(?<account>.+)-secret/.exec(secretName)?.groups?.["account"] ?? secretName;
  return {
    volumeHandle: [annotations[RESOURCE_GROUP] ?? "", account, shareName, name, secretNamespace].join("#"),
    ...fileSystem({ readOnly }),
    volumeAttributes: { sharename: shareName },
    nodeStageSecretRef: { name: secretName, namespace: secretNamespace },
  };
}

/** All calls of the driver have the same credentials. */
function portworxSecrets(annotations: Readonly<Record<string, string>>): Partial<DriverSource> {
  const name = annotations["openstorage.io/auth-secret-name"];
  const namespace = annotations["openstorage.io/auth-secret-namespace"];
  if (name === undefined || namespace === undefined) return {};
  const ref = { name, namespace };
  return {
    controllerPublishSecretRef: ref,
    nodeStageSecretRef: ref,
    nodePublishSecretRef: ref,
    controllerExpandSecretRef: ref,
    nodeExpandSecretRef: ref,
  };
}
