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
import { duplicate, forbidden, invalid, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
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

/** The errors, and the valid volumes: only those can be mounted. */
export function validateVolumes(
  volumes: readonly Volume[],
  at: string,
  rules: VolumeRules,
): { readonly errors: readonly FieldError[]; readonly sound: VolumesByName } {
  const errors: FieldError[] = [];
  const sound = new Map<string, Volume>();
  const madeClaims = namesOfMadeClaims(volumes, rules.podName);
  for (const [index, volume] of volumes.entries()) {
    const here = `${at}[${index}]`;
    const own = [...validateVolume(volume, here, rules), ...validateName(volume.name ?? "", sound, `${here}.name`)];
    if (own.length === 0) sound.set(volume.name, volume);
    else errors.push(...own);
    const claimName = volume.persistentVolumeClaim?.claimName;
    if (claimName !== undefined && madeClaims.has(claimName)) {
      const why = "must not reference a PVC that gets created for an ephemeral volume";
      errors.push(invalid(`${here}.persistentVolumeClaim.claimName`, claimName, why));
    }
  }
  return { errors, sound };
}

/** The claim of an ephemeral volume is named after the Pod and the volume. */
function namesOfMadeClaims(volumes: readonly Volume[], podName: string | undefined): ReadonlySet<string> {
  if (!podName) return new Set();
  return new Set(volumes.filter(({ ephemeral }) => ephemeral !== undefined).map(({ name }) => `${podName}-${name}`));
}

function* validateName(name: string, sound: VolumesByName, at: string): Iterable<FieldError> {
  if (name === "") yield required(at);
  else yield* dnsLabel(name, at);
  if (sound.has(name)) yield duplicate(at, name);
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

function* validateVolume(volume: Volume, at: string, rules: VolumeRules): Iterable<FieldError> {
  const [first, ...surplus] = sourcesOf(volume);
  if (first === undefined) return yield required(at, "must specify a volume type");
  yield* validateSource(volume, first, at, rules);
  for (const source of surplus) yield forbidden(`${at}.${REFUSED_AS[source] ?? source}`, "may not specify more than 1 volume type");
  yield* validateIscsiName(volume, at);
}

function* validateSource(volume: Volume, source: Source, at: string, rules: VolumeRules): Iterable<FieldError> {
  const here = `${at}.${source}`;
  const { emptyDir, hostPath, secret, configMap, persistentVolumeClaim, downwardAPI, projected, ephemeral, image } = volume;
  if (source === "emptyDir" && emptyDir !== undefined) yield* validateEmptyDir(emptyDir, here);
  else if (source === "hostPath" && hostPath !== undefined) yield* validateHostPath(hostPath, here);
  else if (source === "secret" && secret !== undefined) yield* validateSecret(secret, here);
  else if (source === "configMap" && configMap !== undefined) yield* validateConfigMap(configMap, here);
  else if (source === "persistentVolumeClaim" && persistentVolumeClaim !== undefined) yield* validateClaim(persistentVolumeClaim, here);
  else if (source === "projected" && projected !== undefined) yield* validateProjected(projected, here);
  else if (source === "image" && image !== undefined) yield* validateImage(image, here, rules);
  else if (source === "downwardAPI" && downwardAPI !== undefined) {
    yield* validateFileMode(downwardAPI.defaultMode, `${here}.defaultMode`);
    yield* validateDownwardFiles(downwardAPI.items ?? [], here);
  } else if (source === "ephemeral" && ephemeral !== undefined) {
    yield* validateEphemeralVolume(ephemeral, here);
    yield* validateMadeClaimName(volume.name ?? "", at, rules);
  } else yield* validateStorageSource(volume, source as StorageSource, at);
}

function* validateEmptyDir({ sizeLimit }: EmptyDirVolumeSource, at: string): Iterable<FieldError> {
  if (sizeLimit !== undefined && signOf(readQuantity(sizeLimit)) < 0) {
    yield forbidden(`${at}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
  }
}

export function* validateHostPath({ path, type }: HostPathVolumeSource, at: string): Iterable<FieldError> {
  if (!path) return yield required(`${at}.path`);
  yield* validateNoBacksteps(path, `${at}.path`);
  if (type !== undefined && !HOST_PATH_TYPES.includes(type)) yield notSupported(`${at}.type`, type, HOST_PATH_TYPES);
}

function* validateSecret({ secretName, defaultMode, items }: SecretVolumeSource, at: string): Iterable<FieldError> {
  if (!secretName) yield required(`${at}.secretName`);
  yield* validateFileMode(defaultMode, `${at}.defaultMode`);
  yield* validateKeysToPaths(items ?? [], `${at}.items`);
}

function* validateConfigMap({ name, defaultMode, items }: ConfigMapVolumeSource, at: string): Iterable<FieldError> {
  if (!name) yield required(`${at}.name`);
  yield* validateFileMode(defaultMode, `${at}.defaultMode`);
  yield* validateKeysToPaths(items ?? [], `${at}.items`);
}

function* validateKeysToPaths(items: readonly KeyToPath[], at: string): Iterable<FieldError> {
  for (const [index, item] of items.entries()) yield* validateKeyToPath(item, `${at}[${index}]`);
}

function* validateClaim({ claimName }: PersistentVolumeClaimVolumeSource, at: string): Iterable<FieldError> {
  if (!claimName) yield required(`${at}.claimName`);
}

function* validateImage({ reference, pullPolicy }: ImageVolumeSource, at: string, { isPod }: VolumeRules): Iterable<FieldError> {
  if (isPod && !reference) yield required(`${at}.reference`);
  yield* validatePullPolicy(pullPolicy, `${at}.pullPolicy`);
}

export function* validatePullPolicy(policy: string | undefined, at: string): Iterable<FieldError> {
  if (!policy) yield required(at);
  else if (!PULL_POLICIES.includes(policy)) yield notSupported(at, policy, PULL_POLICIES);
}

function* validateMadeClaimName(name: string, at: string, { podName }: VolumeRules): Iterable<FieldError> {
  if (!podName || name === "") return;
  const claimName = `${podName}-${name}`;
  for (const problem of validateDnsSubdomain(claimName)) {
    yield invalid(`${at}.name`, name, `PVC name ${JSON.stringify(claimName)}: ${problem}`);
  }
}

/** The initiator's interface name contains both, and Linux limits its length. */
const ISCSI_NAME_LENGTH_MAX = 64;

function* validateIscsiName({ name, iscsi }: Volume, at: string): Iterable<FieldError> {
  if (iscsi?.initiatorName === undefined || `${name}:${iscsi.targetPortal}`.length <= ISCSI_NAME_LENGTH_MAX) return;
  const why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
  yield invalid(`${at}.name`, name, why);
}
