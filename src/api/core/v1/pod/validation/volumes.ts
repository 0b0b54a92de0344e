/** Validation of the volumes of a Pod: names, exactly one source each, and the rules of the sources that Kubernetes provides itself. */
import type {
  ConfigMapVolumeSource,
  EmptyDirVolumeSource,
  HostPathVolumeSource,
  ImageVolumeSource,
  KeyToPath,
  PersistentVolumeClaimVolumeSource,
  SecretVolumeSource,
  Volume,
} from "../../../../generated/core/v1.ts";
import { duplicate, forbidden, invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateDnsSubdomain } from "../../../../machinery/names.ts";
import { signOf } from "../../../../machinery/quantity.ts";
import { dnsLabel } from "./checks.ts";
import { readQuantity } from "../resource-list.ts";
import { validateEphemeralVolume } from "./claim-template.ts";
import type { VolumesByName } from "./mounts.ts";
import { validateFileMode, validateKeyToPath, validateNoBacksteps } from "./paths.ts";
import { validateDownwardFiles, validateProjected } from "./projected.ts";
import { validateStorageSource, type StorageSource } from "./storage-sources.ts";

const HOST_PATH_TYPES = ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
export const PULL_POLICIES = ["Always", "IfNotPresent", "Never"];

export interface VolumeRules {
  /** Absent in a template, whose Pods have no name yet. */
  readonly podName: string | undefined;
  /** A template may omit what a Pod requires. */
  readonly isPod: boolean;
}

/** Returns the valid volumes: only those can be mounted. */
export function validateVolumes(errors: FieldErrors, volumes: readonly Volume[], at: string, rules: VolumeRules): VolumesByName {
  const sound = new Map<string, Volume>();
  const madeClaims = namesOfMadeClaims(volumes, rules.podName);
  for (const [index, volume] of volumes.entries()) {
    const here = `${at}[${index}]`;
    const { count } = errors;
    validateVolume(errors, volume, here, rules);
    validateName(errors, volume.name ?? "", sound, `${here}.name`);
    if (errors.count === count) sound.set(volume.name, volume);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && madeClaims.has(claimName)) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      errors.add(invalid(`${here}.persistentVolumeClaim.claimName`, claimName, why));
    }
  }
  return sound;
}

/** The claim of an ephemeral volume is named after the Pod and the volume. */
function namesOfMadeClaims(volumes: readonly Volume[], podName: string | undefined): ReadonlySet<string> {
  if (!podName) return new Set();
  return new Set(volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${podName}-${name}`));
}

function validateName(errors: FieldErrors, name: string, sound: VolumesByName, at: string): void {
  if (name === "") errors.add(required(at));
  else errors.addAll(dnsLabel(name, at));
  if (sound.has(name)) errors.add(duplicate(at, name));
}

type Source = Exclude<keyof Volume, "name">;

/** In upstream's order, which validates the first one that is set and rejects the others. */
const SOURCES: readonly Source[] = [
  "emptyDir",
  "hostPath",
  "gitRepo",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "glusterfs",
  "flocker",
  "persistentVolumeClaim",
  "rbd",
  "cinder",
  "cephfs",
  "quobyte",
  "downwardAPI",
  "fc",
  "flexVolume",
  "configMap",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "storageos",
  "projected",
  "scaleIO",
  "csi",
  "ephemeral",
  "image",
];
/** Two that upstream misspells when it rejects them. */
const REFUSED_AS: Partial<Record<Source, string>> = { cephfs: "cephFS", downwardAPI: "downwarAPI" };

/** Fast path: nearly every volume has a name and one source. */
function sourcesOf(volume: Volume): readonly Source[] {
  const given = Object.keys(volume).filter((key) => key !== "name");
  if (given.length === 1) return SOURCE_NAMES.has(given[0] as string) ? (given as Source[]) : [];
  return SOURCES.filter((source) => volume[source] !== undefined);
}

const SOURCE_NAMES: ReadonlySet<string> = new Set(SOURCES);

function validateVolume(errors: FieldErrors, volume: Volume, at: string, rules: VolumeRules): void {
  const [first, ...surplus] = sourcesOf(volume);
  if (first === undefined) return errors.add(required(at, "must specify a volume type"));
  validateSource(errors, volume, first, at, rules);
  for (const source of surplus) errors.add(forbidden(`${at}.${REFUSED_AS[source] ?? source}`, "may not specify more than 1 volume type"));
  validateIscsiName(errors, volume, at);
}

function validateSource(errors: FieldErrors, volume: Volume, source: Source, at: string, rules: VolumeRules): void {
  const here = `${at}.${source}`;
  const { emptyDir, hostPath, secret, configMap, persistentVolumeClaim, downwardAPI, projected, ephemeral, image } = volume;
  if (source === "emptyDir" && emptyDir !== undefined) validateEmptyDir(errors, emptyDir, here);
  else if (source === "hostPath" && hostPath !== undefined) validateHostPath(errors, hostPath, here);
  else if (source === "secret" && secret !== undefined) validateSecret(errors, secret, here);
  else if (source === "configMap" && configMap !== undefined) validateConfigMap(errors, configMap, here);
  else if (source === "persistentVolumeClaim" && persistentVolumeClaim !== undefined) validateClaim(errors, persistentVolumeClaim, here);
  else if (source === "projected" && projected !== undefined) validateProjected(errors, projected, here);
  else if (source === "image" && image !== undefined) validateImage(errors, image, here, rules);
  else if (source === "downwardAPI" && downwardAPI !== undefined) {
    validateFileMode(errors, downwardAPI.defaultMode, `${here}.defaultMode`);
    validateDownwardFiles(errors, downwardAPI.items ?? [], here);
  } else if (source === "ephemeral" && ephemeral !== undefined) {
    validateEphemeralVolume(errors, ephemeral, here);
    validateMadeClaimName(errors, volume.name ?? "", at, rules);
  } else validateStorageSource(errors, volume, source as StorageSource, at);
}

function validateEmptyDir(errors: FieldErrors, { sizeLimit }: EmptyDirVolumeSource, at: string): void {
  if (sizeLimit !== undefined && signOf(readQuantity(sizeLimit)) < 0) {
    errors.add(forbidden(`${at}.sizeLimit`, "SizeLimit field must be a valid resource quantity"));
  }
}

export function validateHostPath(errors: FieldErrors, { path, type }: HostPathVolumeSource, at: string): void {
  if (!path) return errors.add(required(`${at}.path`));
  validateNoBacksteps(errors, path, `${at}.path`);
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) errors.add(notSupported(`${at}.type`, type, HOST_PATH_TYPES));
}

function validateSecret(errors: FieldErrors, { secretName, defaultMode, items }: SecretVolumeSource, at: string): void {
  if (!secretName) errors.add(required(`${at}.secretName`));
  validateFileMode(errors, defaultMode, `${at}.defaultMode`);
  validateKeysToPaths(errors, items ?? [], `${at}.items`);
}

function validateConfigMap(errors: FieldErrors, { name, defaultMode, items }: ConfigMapVolumeSource, at: string): void {
  if (!name) errors.add(required(`${at}.name`));
  validateFileMode(errors, defaultMode, `${at}.defaultMode`);
  validateKeysToPaths(errors, items ?? [], `${at}.items`);
}

function validateKeysToPaths(errors: FieldErrors, items: readonly KeyToPath[], at: string): void {
  for (const [index, item] of items.entries()) validateKeyToPath(errors, item, `${at}[${index}]`);
}

function validateClaim(errors: FieldErrors, { claimName }: PersistentVolumeClaimVolumeSource, at: string): void {
  if (!claimName) errors.add(required(`${at}.claimName`));
}

function validateImage(errors: FieldErrors, { reference, pullPolicy }: ImageVolumeSource, at: string, { isPod }: VolumeRules): void {
  if (isPod && !reference) errors.add(required(`${at}.reference`));
  validatePullPolicy(errors, pullPolicy, `${at}.pullPolicy`);
}

export function validatePullPolicy(errors: FieldErrors, policy: string | undefined, at: string): void {
  if (!policy) errors.add(required(at));
  else if (!PULL_POLICIES.includes(policy)) errors.add(notSupported(at, policy, PULL_POLICIES));
}

function validateMadeClaimName(errors: FieldErrors, name: string, at: string, { podName }: VolumeRules): void {
  if (!podName || name === "") return;
  const claimName = `${podName}-${name}`;
  for (const problem of validateDnsSubdomain(claimName)) {
    errors.add(invalid(`${at}.name`, name, `PVC name ${JSON.stringify(claimName)}: ${problem}`));
  }
}

/** The initiator's interface name contains both, and Linux limits its length. */
const ISCSI_NAME_LENGTH_MAX = 64;

function validateIscsiName(errors: FieldErrors, { name, iscsi }: Volume, at: string): void {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= ISCSI_NAME_LENGTH_MAX) return;
  const why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  errors.add(invalid(`${at}.name`, name, why));
}
