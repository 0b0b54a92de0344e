/** Validation of volumes whose files come from several sources: Secrets, ConfigMaps, the downward API, tokens of the service account. */
import type {
  ClusterTrustBundleProjection,
  DownwardAPIVolumeFile,
  KeyToPath,
  PodCertificateProjection,
  ProjectedVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from "../../../../generated/core/v1.ts";
import {
  EXPIRATION_MIN_SECONDS,
  expirationMaxSeconds,
  signerOfTrustBundleName,
  trustBundleNameProblems,
  validateUserAnnotations,
} from "../../../../certificates.k8s.io/v1beta1/signers.ts";
import { validateSignerName } from "../../../../certificates.k8s.io/v1/signer-name.ts";
import { forbidden, invalid, notSupported, required, type FieldError } from "../../../../machinery/field-error.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { FILE_FIELDS, validateFieldRef, validateResourceFieldRef } from "./env.ts";
import { validateFileMode, validateKeyToPath, validateWrittenPath } from "./paths.ts";

/** Minimum lifetime of a token: a shorter one cannot be renewed in time. */
const TOKEN_EXPIRATION_MIN_SECONDS = 600;
const TOKEN_EXPIRATION_MAX_SECONDS = 2 ** 32;

/** Upstream reports the files of the downward API with the volume and not with their index in the list. */
export function* validateDownwardFiles(files: readonly DownwardAPIVolumeFile[], at: string): Iterable<FieldError> {
  for (const { path, fieldRef, resourceFieldRef, mode } of files) {
    if (!path) yield required(`${at}.path`);
    yield* validateWrittenPath(path ?? "", `${at}.path`);
    if (fieldRef !== undefined) {
      yield* validateFieldRef(fieldRef, FILE_FIELDS, `${at}.fieldRef`);
      if (resourceFieldRef !== undefined) {
        yield invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously");
      }
    } else if (resourceFieldRef !== undefined) {
      yield* validateResourceFieldRef(resourceFieldRef, `${at}.resourceFieldRef`, { inVolume: true });
    } else yield required(at, "one of fieldRef and resourceFieldRef is required");
    yield* validateFileMode(mode, `${at}.mode`);
  }
}

export function* validateProjected({ defaultMode, sources }: ProjectedVolumeSource, at: string): Iterable<FieldError> {
  yield* validateFileMode(defaultMode, `${at}.defaultMode`);
  const seenPaths = new Set<string>();
  for (const [index, source] of (sources ?? []).entries()) yield* validateProjection(source, seenPaths, at, `${at}.sources[${index}]`);
}

/** Two sources may not write the same file: `seenPaths` are those of the sources before. */
function* validateProjection(source: VolumeProjection, seenPaths: Set<string>, at: string, here: string): Iterable<FieldError> {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (secret !== undefined) yield* validateKeys(secret, seenPaths, at, `${here}.secret`);
  if (configMap !== undefined) yield* validateKeys(configMap, seenPaths, at, `${here}.configMap`);
  if (downwardAPI !== undefined) {
    for (const file of downwardAPI.items ?? []) {
      yield* validateDownwardFiles([file], `${here}.downwardAPI`);
      yield* validateNewPath(file.path, file.path, seenPaths, at);
    }
  }
  if (serviceAccountToken !== undefined) yield* validateToken(serviceAccountToken, at, `${here}.serviceAccountToken`);
  if (clusterTrustBundle !== undefined) {
    yield* validateTrustBundle(clusterTrustBundle, `${here}.clusterTrustBundle`);
    yield* validateAnyPath(clusterTrustBundle.path, seenPaths, at);
  }
  if (podCertificate !== undefined) yield* validatePodCertificate(podCertificate, seenPaths, at, `${here}.podCertificate`);
  const given = [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(
    (one) => one !== undefined,
  );
  if (given.length > 1) yield forbidden(here, "may not specify more than 1 volume type per source");
}

interface Keys {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
}

function* validateKeys({ name, items }: Keys, seenPaths: Set<string>, at: string, here: string): Iterable<FieldError> {
  if (!name) yield required(`${here}.name`);
  for (const [index, item] of (items ?? []).entries()) {
    yield* validateKeyToPath(item, `${here}.items[${index}]`);
    yield* validateNewPath(item.path, name ?? "", seenPaths, at);
  }
}

function* validateNewPath(path: string | undefined, shown: string, seenPaths: Set<string>, at: string): Iterable<FieldError> {
  if (!path) return;
  if (seenPaths.has(path)) yield invalid(at, shown, "conflicting duplicate paths");
  seenPaths.add(path);
}

/** Unlike other sources, two bundles without a path conflict. */
function* validateAnyPath(path: string, seenPaths: Set<string>, at: string): Iterable<FieldError> {
  if (seenPaths.has(path)) yield invalid(at, path, "conflicting duplicate paths");
  seenPaths.add(path);
}

function* validateTrustBundle(source: ClusterTrustBundleProjection, here: string): Iterable<FieldError> {
  const { name, signerName, labelSelector, path } = source;
  if (name !== undefined && signerName !== undefined) yield invalid(here, source, "only one of name and signerName may be used");
  else if (name !== undefined) {
    if (name === "") yield required(`${here}.name`, "must be a valid object name");
    for (const message of trustBundleNameProblems(name, signerOfTrustBundleName(name))) {
      yield invalid(`${here}.name`, name, `not a valid clustertrustbundlename: ${message}`);
    }
    if (labelSelector !== undefined) {
      yield invalid(`${here}.labelSelector`, labelSelector, "labelSelector must be unset if name is specified");
    }
  } else if (signerName !== undefined) {
    if (signerName === "") yield required(`${here}.signerName`, "must be a valid signer name");
    yield* validateSignerName(signerName, `${here}.signerName`);
    yield* validateLabelSelectorObject(labelSelector, `${here}.labelSelector`);
  } else yield required(here, "either name or signerName must be specified");
  if (!path) yield required(`${here}.path`);
  yield* validateWrittenPath(path, `${here}.path`);
}

const KEY_TYPES: readonly string[] = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];

const CERTIFICATE_PATHS = ["credentialBundlePath", "keyPath", "certificateChainPath"] as const;

function* validatePodCertificate(source: PodCertificateProjection, seenPaths: Set<string>, at: string, here: string): Iterable<FieldError> {
  const { signerName, keyType, maxExpirationSeconds, userAnnotations } = source;
  yield* validateSignerName(signerName, `${here}.signerName`);
  if (userAnnotations !== undefined) yield* validateUserAnnotations(userAnnotations, `${here}.userAnnotations`);
  if (!KEY_TYPES.includes(keyType)) yield notSupported(`${here}.keyType`, keyType, KEY_TYPES);
  if (maxExpirationSeconds !== undefined) yield* validateExpiration(maxExpirationSeconds, signerName, `${here}.maxExpirationSeconds`);
  const paths = CERTIFICATE_PATHS.filter((name) => source[name]);
  for (const name of paths) {
    yield* validateWrittenPath(source[name] ?? "", `${here}.${name}`);
    yield* validateNewPath(source[name], source[name] ?? "", seenPaths, at);
  }
  if (paths.length === 0) yield required(here, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
}

function* validateExpiration(seconds: number, signerName: string, here: string): Iterable<FieldError> {
  const max = expirationMaxSeconds(signerName);
  if (seconds < EXPIRATION_MIN_SECONDS) {
    yield invalid(here, seconds, `if provided, maxExpirationSeconds must be >= ${EXPIRATION_MIN_SECONDS}`);
  }
  if (seconds > max) yield invalid(here, seconds, `if provided, maxExpirationSeconds must be <= ${max}`);
}

function* validateToken({ expirationSeconds = 0, path }: ServiceAccountTokenProjection, at: string, here: string): Iterable<FieldError> {
  if (expirationSeconds < TOKEN_EXPIRATION_MIN_SECONDS) {
    yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration less than 10 minutes");
  }
  if (expirationSeconds > TOKEN_EXPIRATION_MAX_SECONDS) {
    yield invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration larger than 2^32 seconds");
  }
  if (!path) yield required(`${at}.path`);
  else yield* validateWrittenPath(path, `${at}.path`);
}
