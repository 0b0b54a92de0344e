/**
 * Validation of volume sources of external storage systems; most of them predate CSI. PersistentVolumes share them, some with more fields:
 * their additional rules are in persistent-volume/validate-source.ts.
 */
import type {
  AzureDiskVolumeSource,
  CSIVolumeSource,
  FCVolumeSource,
  FlexVolumeSource,
  FlockerVolumeSource,
  ISCSIVolumeSource,
  NFSVolumeSource,
  QuobyteVolumeSource,
  StorageOSVolumeSource,
  Volume,
} from "../../../../generated/core/v1.ts";
import { invalid, notSupported, required, tooLong, type FieldError } from "../../../../machinery/field-error.ts";
import { isLongerThan, rangeMessage, validateDnsSubdomain } from "../../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain } from "./checks.ts";
import { validateDescendingPath } from "./paths.ts";

/** Sources with required fields and no other rule; a required list must not be empty. */
const REQUIRED = {
  gcePersistentDisk: ["pdName"],
  awsElasticBlockStore: ["volumeID"],
  gitRepo: ["repository"],
  nfs: ["server", "path"],
  glusterfs: ["endpoints", "path"],
  rbd: ["monitors", "image"],
  cinder: ["volumeID"],
  cephfs: ["monitors"],
  flexVolume: ["driver"],
  azureFile: ["secretName", "shareName"],
  vsphereVolume: ["volumePath"],
  photonPersistentDisk: ["pdID"],
  portworxVolume: ["volumeID"],
  azureDisk: ["diskName", "diskURI"],
  scaleIO: ["gateway", "system", "volumeName"],
  iscsi: ["targetPortal", "iqn"],
  flocker: [],
  quobyte: [],
  fc: [],
  storageos: [],
  csi: [],
} as const;

export type StorageSource = keyof typeof REQUIRED;
export type StorageSources = Pick<Volume, StorageSource>;

export function* validateStorageSource(volume: StorageSources, source: StorageSource, at: string): Iterable<FieldError> {
  // Upstream reports these as "persistentDisk", a legacy name.
  const here = `${at}.${source === "gcePersistentDisk" ? "persistentDisk" : source}`;
  const given = (volume[source] ?? {}) as Readonly<Record<string, unknown>>;
  for (const name of REQUIRED[source]) {
    const value = given[name];
    if (!value || (Array.isArray(value) && value.length === 0)) yield required(`${here}.${name}`);
  }
  yield* validateDetails(volume, source, here);
}

function* validateDetails(volume: StorageSources, source: StorageSource, at: string): Iterable<FieldError> {
  const { gcePersistentDisk, awsElasticBlockStore, gitRepo, nfs, iscsi, cinder, flocker } = volume;
  if (source === "gcePersistentDisk") yield* validatePartition(gcePersistentDisk?.partition, at);
  else if (source === "awsElasticBlockStore") yield* validatePartition(awsElasticBlockStore?.partition, at);
  else if (source === "gitRepo") yield* validateDescendingPath(gitRepo?.directory ?? "", `${at}.directory`);
  else if (source === "nfs" && nfs !== undefined) yield* validateNfs(nfs, at);
  else if (source === "iscsi" && iscsi !== undefined) yield* validateIscsi(iscsi, at);
  else if (source === "cinder") yield* validateSecretRef(cinder?.secretRef, at);
  else if (source === "flocker" && flocker !== undefined) yield* validateFlocker(flocker, at);
  else if (source === "fc" && volume.fc !== undefined) yield* validateFibreChannel(volume.fc, at);
  else if (source === "quobyte" && volume.quobyte !== undefined) yield* validateQuobyte(volume.quobyte, at);
  else if (source === "flexVolume" && volume.flexVolume !== undefined) yield* validateFlexVolume(volume.flexVolume, at);
  else if (source === "azureDisk" && volume.azureDisk !== undefined) yield* validateAzureDisk(volume.azureDisk, at);
  else if (source === "storageos" && volume.storageos !== undefined) yield* validateStorageOs(volume.storageos, at);
  else if (source === "csi" && volume.csi !== undefined) yield* validateCsi(volume.csi, at);
}

const PARTITION_MAX = 255;
const LUN_MAX = 255;

function* validatePartition(partition = 0, at: string): Iterable<FieldError> {
  if (partition < 0 || partition > PARTITION_MAX) yield invalid(`${at}.partition`, partition, rangeMessage(1, PARTITION_MAX));
}

export function* validateLun(lun = 0, at: string): Iterable<FieldError> {
  if (lun < 0 || lun > LUN_MAX) yield invalid(at, lun, rangeMessage(0, LUN_MAX));
}

function* validateNfs({ path }: NFSVolumeSource, at: string): Iterable<FieldError> {
  if (!(path ?? "").startsWith("/")) yield invalid(`${at}.path`, path ?? "", "must be an absolute path");
}

function* validateSecretRef(reference: { readonly name?: string } | undefined, at: string): Iterable<FieldError> {
  if (reference !== undefined && !reference.name) yield required(`${at}.secretRef.name`);
}

const QUALIFIED_NAMES: readonly (readonly [string, RegExp])[] = [
  ["iqn", /iqn\.\d{4}-\d{2}\.([A-Za-z0-9\-.]+)(:[^,;*&$|\s]+)$/],
  ["eui", /^eui.[A-Za-z0-9]{16}$/],
  ["naa", /^naa.[A-Za-z0-9]{32}$/],
];

/** "iqn.1994-05.com.example:disk1" and its two variants. */
export function isIscsiName(name: string): boolean {
  return QUALIFIED_NAMES.some(([prefix, form]) => name.startsWith(prefix) && form.test(name));
}

function* validateIscsiName(name: string, at: string): Iterable<FieldError> {
  if (!QUALIFIED_NAMES.some(([prefix]) => name.startsWith(prefix))) {
    yield invalid(at, name, "must be valid format starting with iqn, eui, or naa");
  } else if (!isIscsiName(name)) yield invalid(at, name, "must be valid format");
}

function* validateIscsi(source: ISCSIVolumeSource, at: string): Iterable<FieldError> {
  const { iqn, lun, initiatorName, secretRef } = source;
  if (iqn) yield* validateIscsiName(iqn, `${at}.iqn`);
  yield* validateLun(lun, `${at}.lun`);
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && secretRef === undefined) yield required(`${at}.secretRef`);
  if (initiatorName !== undefined) yield* validateIscsiName(initiatorName, `${at}.initiatorname`);
}

function* validateFlocker({ datasetName = "", datasetUUID = "" }: FlockerVolumeSource, at: string): Iterable<FieldError> {
  if (datasetName === "" && datasetUUID === "") yield required(at, "one of datasetName and datasetUUID is required");
  if (datasetName !== "" && datasetUUID !== "") {
    yield invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/")) yield invalid(`${at}.datasetName`, datasetName, "must not contain '/'");
}

function* validateFibreChannel({ targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: string): Iterable<FieldError> {
  if (targetWWNs.length === 0 && wwids.length === 0) {
    yield required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both");
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    yield invalid(`${at}.targetWWNs`, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) yield required(`${at}.lun`, "lun is required if targetWWNs is specified");
  else yield* validateLun(lun, `${at}.lun`);
}

const TENANT_LENGTH_MAX = 64;

function* validateQuobyte({ registry, tenant, volume }: QuobyteVolumeSource, at: string): Iterable<FieldError> {
  const why = "must be a host:port pair or multiple pairs separated by commas";
  if (!registry) yield required(`${at}.registry`, why);
  else if ((tenant ?? "").length > TENANT_LENGTH_MAX) {
    yield required(`${at}.tenant`, "must be a UUID and may not exceed a length of 64 characters");
  } else for (const pair of registry.split(",")) if (!isHostAndPort(pair)) yield invalid(`${at}.registry`, registry, why);
  if (!volume) yield required(`${at}.volume`);
}

/** "host:port" or "[v6]:port": one colon that is not inside of brackets. */
function isHostAndPort(text: string): boolean {
  return /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);
}

function* validateFlexVolume({ options }: FlexVolumeSource, at: string): Iterable<FieldError> {
  for (const key of Object.keys(options ?? {})) {
    const domain = `.${(key.split("/", 1)[0] ?? "").toLowerCase()}`;
    if (!domain.endsWith(".kubernetes.io") && !domain.endsWith(".k8s.io")) continue;
    yield invalid(`${at}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved");
  }
}

const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];
const MANAGED_DISK_URI = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK_URI = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

function* validateAzureDisk({ diskURI, cachingMode, kind }: AzureDiskVolumeSource, at: string): Iterable<FieldError> {
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    yield notSupported(`${at}.cachingMode`, cachingMode, CACHING_MODES);
  if (kind !== undefined && !DISK_KINDS.includes(kind)) yield notSupported(`${at}.kind`, kind, DISK_KINDS);
  if (kind === undefined) return;
  const isManaged = kind === "Managed";
  if ((diskURI ?? "").startsWith(isManaged ? "/subscriptions/" : "https://")) return;
  yield notSupported(`${at}.diskURI`, diskURI ?? "", [isManaged ? MANAGED_DISK_URI : BLOB_DISK_URI]);
}

function* validateStorageOs(source: StorageOSVolumeSource, at: string): Iterable<FieldError> {
  if (!source.volumeName) yield required(`${at}.volumeName`);
  else yield* dnsLabel(source.volumeName, `${at}.volumeName`);
  if (source.volumeNamespace) yield* dnsLabel(source.volumeNamespace, `${at}.volumeNamespace`);
  yield* validateSecretRef(source.secretRef, at);
}

const DRIVER_NAME_LENGTH_MAX = 63;

/** A CSI driver name is a domain name in letters of either case. */
export function* validateDriverName(driver: string | undefined, at: string): Iterable<FieldError> {
  if (!driver) return yield required(at);
  if (isLongerThan(driver, DRIVER_NAME_LENGTH_MAX)) yield tooLong(at, DRIVER_NAME_LENGTH_MAX);
  for (const problem of validateDnsSubdomain(driver.toLowerCase())) yield invalid(at, driver, problem);
}

function* validateCsi({ driver, nodePublishSecretRef }: CSIVolumeSource, at: string): Iterable<FieldError> {
  yield* validateDriverName(driver, `${at}.driver`);
  if (nodePublishSecretRef === undefined) return;
  if (!nodePublishSecretRef.name) yield required(`${at}.nodePublishSecretRef.name`);
  else yield* dnsSubdomain(nodePublishSecretRef.name, `${at}.name`);
}
