/**
 * Validates the source of a PersistentVolume: exactly one, and its own rules. Most are shared with a Pod's volumes; since a
 * PersistentVolume is cluster-scoped, references to Secrets must name the namespace.
 */
import type {
  CSIPersistentVolumeSource,
  ISCSIPersistentVolumeSource,
  PersistentVolumeSource,
  PersistentVolumeSpec,
  SecretReference,
} from "../../../generated/core/v1.ts";
import { forbidden, invalid, required, type FieldError } from "../../../machinery/field-error.ts";
import { errorsOf } from "../../../machinery/findings.ts";
import { validateDnsLabel } from "../../../machinery/names.ts";
import { dnsLabel, dnsSubdomain } from "../pod/validation/checks.ts";
import { validateNoBacksteps } from "../pod/validation/paths.ts";
import { isIscsiName, validateDriverName, validateLun, validateStorageSource } from "../pod/validation/storage-sources.ts";
import { validateHostPath } from "../pod/validation/volumes.ts";

type Source = keyof PersistentVolumeSource;

/** In upstream's order, which validates the first one that is set and rejects the others. */
export const SOURCES: readonly Source[] = [
  "hostPath",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "glusterfs",
  "flocker",
  "nfs",
  "rbd",
  "quobyte",
  "cephfs",
  "iscsi",
  "cinder",
  "fc",
  "flexVolume",
  "azureFile",
  "vsphereVolume",
  "photonPersistentDisk",
  "portworxVolume",
  "azureDisk",
  "scaleIO",
  "local",
  "storageos",
  "csi",
];

export interface VolumeContext {
  readonly name: string;
  /** An inline spec of another object (VolumeAttachment), which has no node affinity. */
  readonly inline: boolean;
}

export function* validateSources(spec: PersistentVolumeSpec, at: string, context: VolumeContext): Iterable<FieldError> {
  const given = SOURCES.filter((source) => spec[source] !== undefined);
  if (given.length === 0) yield required(at, "must specify a volume type");
  for (const [index, source] of given.entries()) {
    // Upstream forgets to reject this one, and misspells that one.
    if (index === 0 || source === "flexVolume") yield* validateSource(spec, source, at, context);
    else yield forbidden(`${at}.${source === "cephfs" ? "cephFS" : source}`, "may not specify more than 1 volume type");
  }
}

function* validateSource(spec: PersistentVolumeSpec, source: Source, at: string, context: VolumeContext): Iterable<FieldError> {
  const here = `${at}.${source}`;
  const { hostPath, local, iscsi, csi } = spec;
  if (source === "hostPath" && hostPath !== undefined) yield* errorsOf((errors) => validateHostPath(errors, hostPath, here));
  else if (source === "iscsi" && iscsi !== undefined) yield* validateIscsi(iscsi, here, context.name);
  else if (source === "csi" && csi !== undefined) yield* validateCsi(csi, here);
  else if (source === "local" && local !== undefined) {
    yield* validateLocalPath(local.path, `${here}.path`);
    if (context.inline || spec.nodeAffinity === undefined) {
      yield required(`${at}.nodeAffinity`, "Local volume requires node affinity");
    }
  } else if (source !== "hostPath" && source !== "local") {
    yield* errorsOf((errors) => validateStorageSource(errors, spec, source, at));
    yield* validateNamespaces(spec, source, here);
  }
}

function* validateLocalPath(path: string, at: string): Iterable<FieldError> {
  if (path === "") yield required(at);
  else yield* errorsOf((errors) => validateNoBacksteps(errors, path, at));
}

/** Rules beyond those of a Pod's volumes. */
function* validateNamespaces(
  { glusterfs, cinder, azureFile, storageos }: PersistentVolumeSpec,
  source: Source,
  at: string,
): Iterable<FieldError> {
  if (source === "glusterfs") yield* validateEndpointsNamespace(glusterfs?.endpointsNamespace, `${at}.endpointsNamespace`);
  else if (source === "cinder") yield* validateSecretNamespace(cinder?.secretRef, at);
  else if (source === "storageos") yield* validateSecretNamespace(storageos?.secretRef, at);
  else if (source === "azureFile" && azureFile?.secretNamespace === "") yield required(`${at}.secretNamespace`);
}

function* validateEndpointsNamespace(namespace: string | undefined, at: string): Iterable<FieldError> {
  if (namespace === undefined) return;
  const problems = namespace === "" ? ["if the endpointnamespace is set, it must be a valid namespace name"] : validateDnsLabel(namespace);
  for (const problem of problems) yield invalid(at, namespace, problem);
}

function* validateSecretNamespace(reference: SecretReference | undefined, at: string): Iterable<FieldError> {
  if (reference !== undefined && !reference.namespace) yield required(`${at}.secretRef.namespace`);
}

/** The initiator's interface name contains both, and Linux limits its length. */
const ISCSI_NAME_LENGTH_MAX = 64;

function* validateIscsi(source: ISCSIPersistentVolumeSource, at: string, volumeName: string): Iterable<FieldError> {
  const { targetPortal, iqn, initiatorName, secretRef } = source;
  if (targetPortal === "") yield required(`${at}.targetPortal`);
  if (initiatorName !== undefined && `${volumeName}:${targetPortal}`.length > ISCSI_NAME_LENGTH_MAX) {
    const why = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
    yield invalid(`${at}.targetportal`, targetPortal, why);
  }
  if (!iqn) yield required(`${at}.iqn`);
  else if (!isIscsiName(iqn)) yield invalid(`${at}.iqn`, iqn, "must be valid format");
  yield* errorsOf((errors) => validateLun(errors, source.lun, `${at}.lun`));
  const isSecretNeeded = source.chapAuthDiscovery === true || source.chapAuthSession === true;
  if (isSecretNeeded && secretRef === undefined) yield required(`${at}.secretRef`);
  if (secretRef !== undefined && !secretRef.name) yield required(`${at}.secretRef.name`);
  if (initiatorName !== undefined && !isIscsiName(initiatorName)) {
    yield invalid(`${at}.initiatorname`, initiatorName, "must be valid format");
  }
}

/** In upstream's order. It does not validate `nodeStageSecretRef`. */
const SECRETS = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
] as const satisfies readonly (keyof CSIPersistentVolumeSource)[];

function* validateCsi(source: CSIPersistentVolumeSource, at: string): Iterable<FieldError> {
  yield* errorsOf((errors) => validateDriverName(errors, source.driver, `${at}.driver`));
  if (!source.volumeHandle) yield required(`${at}.volumeHandle`);
  for (const name of SECRETS) {
    const secret = source[name];
    if (secret !== undefined) yield* validateSecret(secret, `${at}.${name}`);
  }
}

function* validateSecret({ name, namespace }: SecretReference, at: string): Iterable<FieldError> {
  if (!name) yield required(`${at}.name`);
  else yield* dnsSubdomain(name, `${at}.name`);
  if (!namespace) yield required(`${at}.namespace`);
  else yield* dnsLabel(namespace, `${at}.namespace`);
}
