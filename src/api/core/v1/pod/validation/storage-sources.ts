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
import { invalid, notSupported, required, tooLong } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
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

export function validateStorageSource(errors: FieldErrors, volume: StorageSources, source: StorageSource, at: string): void {
  // Upstream reports these as "persistentDisk", a legacy name.
  const here = `${at}.${source === "gcePersistentDisk" ? "persistentDisk" : source}`;
  const given = (volume[source] ?? {}) as Readonly<Record<string, unknown>>;
  for (const name of REQUIRED[source]) {
    const value = given[name];
    if (!value || (Array.isArray(value) && value.length === 0)) errors.add(required(`${here}.${name}`));
  }
  validateDetails(errors, volume, source, here);
}

function validateDetails(errors: FieldErrors, volume: StorageSources, source: StorageSource, at: string): void {
  const { gcePersistentDisk, awsElasticBlockStore, gitRepo, nfs, iscsi, cinder, flocker } = volume;
  if (source === "gcePersistentDisk") validatePartition(errors, gcePersistentDisk?.partition, at);
  else if (source === "awsElasticBlockStore") validatePartition(errors, awsElasticBlockStore?.partition, at);
  else if (source === "gitRepo") validateDescendingPath(errors, gitRepo?.directory ?? "", `${at}.directory`);
  else if (source === "nfs" && nfs !== undefined) validateNfs(errors, nfs, at);
  else if (source === "iscsi" && iscsi !== undefined) validateIscsi(errors, iscsi, at);
  else if (source === "cinder") validateSecretRef(errors, cinder?.secretRef, at);
  else if (source === "flocker" && flocker !== undefined) validateFlocker(errors, flocker, at);
  else if (source === "fc" && volume.fc !== undefined) validateFibreChannel(errors, volume.fc, at);
  else if (source === "quobyte" && volume.quobyte !== undefined) validateQuobyte(errors, volume.quobyte, at);
  else if (source === "flexVolume" && volume.flexVolume !== undefined) validateFlexVolume(errors, volume.flexVolume, at);
  else if (source === "azureDisk" && volume.azureDisk !== undefined) validateAzureDisk(errors, volume.azureDisk, at);
  else if (source === "storageos" && volume.storageos !== undefined) validateStorageOs(errors, volume.storageos, at);
  else if (source === "csi" && volume.csi !== undefined) validateCsi(errors, volume.csi, at);
}

const PARTITION_MAX = 255;
const LUN_MAX = 255;

function validatePartition(errors: FieldErrors, partition = 0, at: string): void {
  if (partition < 0 || partition > PARTITION_MAX) errors.add(invalid(`${at}.partition`, partition, rangeMessage(1, PARTITION_MAX)));
}

export function validateLun(errors: FieldErrors, lun = 0, at: string): void {
  if (lun < 0 || lun > LUN_MAX) errors.add(invalid(at, lun, rangeMessage(0, LUN_MAX)));
}

function validateNfs(errors: FieldErrors, { path }: NFSVolumeSource, at: string): void {
  if (!(path ?? "").startsWith("/")) errors.add(invalid(`${at}.path`, path ?? "", "must be an absolute path"));
}

function validateSecretRef(errors: FieldErrors, reference: { readonly name?: string } | undefined, at: string): void {
  if (reference !== undefined && !reference.name) errors.add(required(`${at}.secretRef.name`));
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

function validateIscsiName(errors: FieldErrors, name: string, at: string): void {
  if (!QUALIFIED_NAMES.some(([prefix]) => name.startsWith(prefix))) {
    errors.add(invalid(at, name, "must be valid format starting with iqn, eui, or naa"));
  } else if (!isIscsiName(name)) errors.add(invalid(at, name, "must be valid format"));
}

function validateIscsi(errors: FieldErrors, source: ISCSIVolumeSource, at: string): void {
  const { iqn, lun, initiatorName, secretRef } = source;
  if (iqn) validateIscsiName(errors, iqn, `${at}.iqn`);
  validateLun(errors, lun, `${at}.lun`);
  if ((source.chapAuthDiscovery === true || source.chapAuthSession === true) && secretRef === undefined)
    errors.add(required(`${at}.secretRef`));
  if (initiatorName !== undefined) validateIscsiName(errors, initiatorName, `${at}.initiatorname`);
}

function validateFlocker(errors: FieldErrors, { datasetName = "", datasetUUID = "" }: FlockerVolumeSource, at: string): void {
  if (datasetName === "" && datasetUUID === "") errors.add(required(at, "one of datasetName and datasetUUID is required"));
  if (datasetName !== "" && datasetUUID !== "") {
    errors.add(invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"));
  }
  if (datasetName.includes("/")) errors.add(invalid(`${at}.datasetName`, datasetName, "must not contain '/'"));
}

function validateFibreChannel(errors: FieldErrors, { targetWWNs = [], wwids = [], lun }: FCVolumeSource, at: string): void {
  if (targetWWNs.length === 0 && wwids.length === 0) {
    errors.add(required(`${at}.targetWWNs`, "must specify either targetWWNs or wwids, but not both"));
  }
  if (targetWWNs.length > 0 && wwids.length > 0) {
    errors.add(invalid(`${at}.targetWWNs`, targetWWNs, "targetWWNs and wwids can not be specified simultaneously"));
  }
  if (targetWWNs.length === 0) return;
  if (lun === undefined) errors.add(required(`${at}.lun`, "lun is required if targetWWNs is specified"));
  else validateLun(errors, lun, `${at}.lun`);
}

const TENANT_LENGTH_MAX = 64;

function validateQuobyte(errors: FieldErrors, { registry, tenant, volume }: QuobyteVolumeSource, at: string): void {
  const why = "must be a host:port pair or multiple pairs separated by commas";
  if (!registry) errors.add(required(`${at}.registry`, why));
  else if ((tenant ?? "").length > TENANT_LENGTH_MAX) {
    errors.add(required(`${at}.tenant`, "must be a UUID and may not exceed a length of 64 characters"));
  } else for (const pair of registry.split(",")) if (!isHostAndPort(pair)) errors.add(invalid(`${at}.registry`, registry, why));
  if (!volume) errors.add(required(`${at}.volume`));
}

/** "host:port" or "[v6]:port": one colon that is not inside of brackets. */
function isHostAndPort(text: string): boolean {
  return /^(?:\[[^[\]]*\]|[^[\]:]*):[^[\]:]*$/.test(text);
}

function validateFlexVolume(errors: FieldErrors, { options }: FlexVolumeSource, at: string): void {
  for (const key of Object.keys(options ?? {})) {
    const domain = `.${(key.split("/", 1)[0] ?? "").toLowerCase()}`;
    if (!domain.endsWith(".kubernetes.io") && !domain.endsWith(".k8s.io")) continue;
    errors.add(invalid(`${at}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved"));
  }
}

const CACHING_MODES = ["None", "ReadOnly", "ReadWrite"];
const DISK_KINDS = ["Dedicated", "Managed", "Shared"];
const MANAGED_DISK_URI = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK_URI = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

function validateAzureDisk(errors: FieldErrors, { diskURI, cachingMode, kind }: AzureDiskVolumeSource, at: string): void {
  if (cachingMode !== undefined && !CACHING_MODES.includes(cachingMode))
    errors.add(notSupported(`${at}.cachingMode`, cachingMode, CACHING_MODES));
  if (kind !== undefined && !DISK_KINDS.includes(kind)) errors.add(notSupported(`${at}.kind`, kind, DISK_KINDS));
  if (kind === undefined) return;
  const isManaged = kind === "Managed";
  if ((diskURI ?? "").startsWith(isManaged ? "/subscriptions/" : "https://")) return;
  errors.add(notSupported(`${at}.diskURI`, diskURI ?? "", [isManaged ? MANAGED_DISK_URI : BLOB_DISK_URI]));
}

function validateStorageOs(errors: FieldErrors, source: StorageOSVolumeSource, at: string): void {
  if (!source.volumeName) errors.add(required(`${at}.volumeName`));
  else errors.addAll(dnsLabel(source.volumeName, `${at}.volumeName`));
  if (source.volumeNamespace) errors.addAll(dnsLabel(source.volumeNamespace, `${at}.volumeNamespace`));
  validateSecretRef(errors, source.secretRef, at);
}

const DRIVER_NAME_LENGTH_MAX = 63;

/** A CSI driver name is a domain name in letters of either case. */
export function validateDriverName(errors: FieldErrors, driver: string | undefined, at: string): void {
  if (!driver) return errors.add(required(at));
  if (isLongerThan(driver, DRIVER_NAME_LENGTH_MAX)) errors.add(tooLong(at, DRIVER_NAME_LENGTH_MAX));
  for (const problem of validateDnsSubdomain(driver.toLowerCase())) errors.add(invalid(at, driver, problem));
}

function validateCsi(errors: FieldErrors, { driver, nodePublishSecretRef }: CSIVolumeSource, at: string): void {
  validateDriverName(errors, driver, `${at}.driver`);
  if (nodePublishSecretRef === undefined) return;
  if (!nodePublishSecretRef.name) errors.add(required(`${at}.nodePublishSecretRef.name`));
  else errors.addAll(dnsSubdomain(nodePublishSecretRef.name, `${at}.name`));
}
