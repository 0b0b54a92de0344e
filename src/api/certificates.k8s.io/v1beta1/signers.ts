/** Rules of signers that trust bundles, Pod certificates and the Pods that use them share. Not here: names of signers (v1/signer-name.ts). */
import { required, tooLong, type FieldError } from "../../machinery/field-error.ts";
import { ANNOTATIONS_SIZE_MAX_BYTES } from "../../machinery/metadata-validation.ts";
import { byteLength, validateDnsSubdomain, validateDomainPrefixedKey } from "../../machinery/names.ts";

/** One hour: a shorter certificate could not be refreshed in time. */
export const EXPIRATION_MIN_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
/** Lifetime that a PodCertificateRequest has if it names none. */
export const EXPIRATION_DEFAULT_SECONDS = DAY_SECONDS;

/** 91 days, and one day for signers of Kubernetes. */
export function expirationMaxSeconds(signerName: string): number {
  return isKubernetesSigner(signerName) ? DAY_SECONDS : 91 * DAY_SECONDS;
}

function isKubernetesSigner(signerName: string): boolean {
  const [host = ""] = signerName.split("/");
  return host === "kubernetes.io" || host.endsWith(".kubernetes.io");
}

/** Messages for the name of a ClusterTrustBundle: one of a signer starts with the signer's name. */
export function trustBundleNameProblems(name: string, signerName: string): readonly string[] {
  if (signerName === "") {
    if (name.includes(":")) return ['ClusterTrustBundle without signer name must not have ":" in its name'];
    return validateDnsSubdomain(name);
  }
  const prefix = `${signerName.replaceAll("/", ":")}:`;
  if (name.startsWith(prefix)) return validateDnsSubdomain(name.slice(prefix.length));
  return [`ClusterTrustBundle for signerName ${signerName} must be named with prefix ${prefix}`];
}

/** The signer that the name of a bundle refers to; "" if it refers to none. */
export function signerOfTrustBundleName(name: string): string {
  const end = name.lastIndexOf(":");
  return end === -1 ? "" : name.slice(0, end).replaceAll(":", "/");
}

/** Annotations that the author of a Pod passes to the signer. */
export function* validateUserAnnotations(annotations: Readonly<Record<string, string>>, at: string): Iterable<FieldError> {
  let sizeBytes = 0;
  for (const [key, value] of Object.entries(annotations)) {
    if (key === "") yield required(at);
    else yield* validateDomainPrefixedKey(key.toLowerCase(), at);
    sizeBytes += byteLength(key) + byteLength(value);
  }
  if (sizeBytes > ANNOTATIONS_SIZE_MAX_BYTES) yield tooLong(at, ANNOTATIONS_SIZE_MAX_BYTES);
}
