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
import { forbidden, invalid, notSupported, required } from "../../../../machinery/field-error.ts";
import type { FieldErrors } from "../../../../machinery/findings.ts";
import { validateLabelSelectorObject } from "../../../../machinery/selectors/label-selector.ts";
import { FILE_FIELDS, validateFieldRef, validateResourceFieldRef } from "./env.ts";
import { validateFileMode, validateKeyToPath, validateWrittenPath } from "./paths.ts";

/** Minimum lifetime of a token: a shorter one cannot be renewed in time. */
const TOKEN_EXPIRATION_MIN_SECONDS = 600;
const TOKEN_EXPIRATION_MAX_SECONDS = 2 ** 32;

/** Upstream reports the files of the downward API with the volume and not with their index in the list. */
export function validateDownwardFiles(errors: FieldErrors, files: readonly DownwardAPIVolumeFile[], at: string): void {
  for (const { path, fieldRef, resourceFieldRef, mode } of files) {
    if (!path) errors.add(required(`${at}.path`));
    validateWrittenPath(errors, path ?? "", `${at}.path`);
    if (fieldRef !== undefined) {
      validateFieldRef(errors, fieldRef, FILE_FIELDS, `${at}.fieldRef`);
      if (resourceFieldRef !== undefined) {
        errors.add(invalid(at, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously"));
      }
    } else if (resourceFieldRef !== undefined) {
      validateResourceFieldRef(errors, resourceFieldRef, `${at}.resourceFieldRef`, { inVolume: true });
    } else errors.add(required(at, "one of fieldRef and resourceFieldRef is required"));
    validateFileMode(errors, mode, `${at}.mode`);
  }
}

export function validateProjected(errors: FieldErrors, { defaultMode, sources }: ProjectedVolumeSource, at: string): void {
  validateFileMode(errors, defaultMode, `${at}.defaultMode`);
  const seenPaths = new Set<string>();
  for (const [index, source] of (sources ?? []).entries()) validateProjection(errors, source, seenPaths, at, `${at}.sources[${index}]`);
}

/** Two sources may not write the same file: `seenPaths` are those of the sources before. */
function validateProjection(errors: FieldErrors, source: VolumeProjection, seenPaths: Set<string>, at: string, here: string): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate } = source;
  if (secret !== undefined) validateKeys(errors, secret, seenPaths, at, `${here}.secret`);
  if (configMap !== undefined) validateKeys(errors, configMap, seenPaths, at, `${here}.configMap`);
  if (downwardAPI !== undefined) {
    for (const file of downwardAPI.items ?? []) {
      validateDownwardFiles(errors, [file], `${here}.downwardAPI`);
      validateNewPath(errors, file.path, file.path, seenPaths, at);
    }
  }
  if (serviceAccountToken !== undefined) validateToken(errors, serviceAccountToken, at, `${here}.serviceAccountToken`);
  if (clusterTrustBundle !== undefined) {
    validateTrustBundle(errors, clusterTrustBundle, `${here}.clusterTrustBundle`);
    validateAnyPath(errors, clusterTrustBundle.path, seenPaths, at);
  }
  if (podCertificate !== undefined) validatePodCertificate(errors, podCertificate, seenPaths, at, `${here}.podCertificate`);
  const given = [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(
    (one) => one !== undefined,
  );
  if (given.length > 1) errors.add(forbidden(here, "may not specify more than 1 volume type per source"));
}

interface Keys {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
}

function validateKeys(errors: FieldErrors, { name, items }: Keys, seenPaths: Set<string>, at: string, here: string): void {
  if (!name) errors.add(required(`${here}.name`));
  for (const [index, item] of (items ?? []).entries()) {
    validateKeyToPath(errors, item, `${here}.items[${index}]`);
    validateNewPath(errors, item.path, name ?? "", seenPaths, at);
  }
}

function validateNewPath(errors: FieldErrors, path: string | undefined, shown: string, seenPaths: Set<string>, at: string): void {
  if (!path) return;
  if (seenPaths.has(path)) errors.add(invalid(at, shown, "conflicting duplicate paths"));
  seenPaths.add(path);
}

/** Unlike other sources, two bundles without a path conflict. */
function validateAnyPath(errors: FieldErrors, path: string, seenPaths: Set<string>, at: string): void {
  if (seenPaths.has(path)) errors.add(invalid(at, path, "conflicting duplicate paths"));
  seenPaths.add(path);
}

function validateTrustBundle(errors: FieldErrors, source: ClusterTrustBundleProjection, here: string): void {
  const { name, signerName, labelSelector, path } = source;
  if (name !== undefined && signerName !== undefined) errors.add(invalid(here, source, "only one of name and signerName may be used"));
  else if (name !== undefined) {
    if (name === "") errors.add(required(`${here}.name`, "must be a valid object name"));
    for (const message of trustBundleNameProblems(name, signerOfTrustBundleName(name))) {
      errors.add(invalid(`${here}.name`, name, `not a valid clustertrustbundlename: ${message}`));
    }
    if (labelSelector !== undefined) {
      errors.add(invalid(`${here}.labelSelector`, labelSelector, "labelSelector must be unset if name is specified"));
    }
  } else if (signerName !== undefined) {
    if (signerName === "") errors.add(required(`${here}.signerName`, "must be a valid signer name"));
    errors.addAll(validateSignerName(signerName, `${here}.signerName`));
    errors.addAll(validateLabelSelectorObject(labelSelector, `${here}.labelSelector`));
  } else errors.add(required(here, "either name or signerName must be specified"));
  if (!path) errors.add(required(`${here}.path`));
  validateWrittenPath(errors, path, `${here}.path`);
}

const KEY_TYPES: readonly string[] = ["ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519", "RSA3072", "RSA4096"];

const CERTIFICATE_PATHS = ["credentialBundlePath", "keyPath", "certificateChainPath"] as const;

function validatePodCertificate(
  errors: FieldErrors,
  source: PodCertificateProjection,
  seenPaths: Set<string>,
  at: string,
  here: string,
): void {
  const { signerName, keyType, maxExpirationSeconds, userAnnotations } = source;
  errors.addAll(validateSignerName(signerName, `${here}.signerName`));
  if (userAnnotations !== undefined) errors.addAll(validateUserAnnotations(userAnnotations, `${here}.userAnnotations`));
  if (!KEY_TYPES.includes(keyType)) errors.add(notSupported(`${here}.keyType`, keyType, KEY_TYPES));
  if (maxExpirationSeconds !== undefined) validateExpiration(errors, maxExpirationSeconds, signerName, `${here}.maxExpirationSeconds`);
  const paths = CERTIFICATE_PATHS.filter((name) => source[name]);
  for (const name of paths) {
    validateWrittenPath(errors, source[name] ?? "", `${here}.${name}`);
    validateNewPath(errors, source[name], source[name] ?? "", seenPaths, at);
  }
  if (paths.length === 0) errors.add(required(here, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"));
}

function validateExpiration(errors: FieldErrors, seconds: number, signerName: string, here: string): void {
  const max = expirationMaxSeconds(signerName);
  if (seconds < EXPIRATION_MIN_SECONDS) {
    errors.add(invalid(here, seconds, `if provided, maxExpirationSeconds must be >= ${EXPIRATION_MIN_SECONDS}`));
  }
  if (seconds > max) errors.add(invalid(here, seconds, `if provided, maxExpirationSeconds must be <= ${max}`));
}

function validateToken(
  errors: FieldErrors,
  { expirationSeconds = 0, path }: ServiceAccountTokenProjection,
  at: string,
  here: string,
): void {
  if (expirationSeconds < TOKEN_EXPIRATION_MIN_SECONDS) {
    errors.add(invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration less than 10 minutes"));
  }
  if (expirationSeconds > TOKEN_EXPIRATION_MAX_SECONDS) {
    errors.add(invalid(`${here}.expirationSeconds`, expirationSeconds, "may not specify a duration larger than 2^32 seconds"));
  }
  if (!path) errors.add(required(`${at}.path`));
  else validateWrittenPath(errors, path, `${at}.path`);
}
