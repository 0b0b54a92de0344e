/** Validation of a new PodCertificateRequest, with upstream's messages. */
import type { PodCertificateRequestSpec } from "../../../generated/certificates.k8s.io/v1beta1.ts";
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { invalid, invalidUnquoted, required, tooLong, type FieldError } from "../../../machinery/field-error.ts";
import { byteLength, validateDnsSubdomain } from "../../../machinery/names.ts";
import { checkRequestSignature, parseRequest, type CertificateRequest } from "../../../machinery/x509/certificate-request.ts";
import { X509Error } from "../../../machinery/x509/error.ts";
import type { PublicKey } from "../../../machinery/x509/public-key.ts";
import { validateSignerName } from "../../v1/signer-name.ts";
import { EXPIRATION_MIN_SECONDS, expirationMaxSeconds, validateUserAnnotations } from "../signers.ts";

/** Upstream's limits. */
const UID_MAX_BYTES = 128;
const REQUEST_MAX_BYTES = 10 * 1024;

const CURVES: readonly string[] = ["P256", "P384", "P521"];
const RSA_BITS: readonly number[] = [3072, 4096];

export function* validateNewRequest(spec: PodCertificateRequestSpec): Iterable<FieldError> {
  yield* validateSignerName(spec.signerName, "spec.signerName");
  yield* validateUserAnnotations(spec.unverifiedUserAnnotations ?? {}, "spec.unverifiedUserAnnotations");
  yield* validateReference(spec, { name: "podName", uid: "podUID" });
  yield* validateReference(spec, { name: "serviceAccountName", uid: "serviceAccountUID" });
  yield* validateReference(spec, { name: "nodeName", uid: "nodeUID" });
  if (spec.maxExpirationSeconds === undefined) {
    yield required("spec.maxExpirationSeconds", "must be set");
    return;
  }
  const max = expirationMaxSeconds(spec.signerName);
  if (spec.maxExpirationSeconds < EXPIRATION_MIN_SECONDS || spec.maxExpirationSeconds > max) {
    const range = `must be in the range [${EXPIRATION_MIN_SECONDS}, ${max}]`;
    yield invalid("spec.maxExpirationSeconds", spec.maxExpirationSeconds, range);
  }
  yield* validateKey(spec);
}

interface ReferenceFields {
  readonly name: "podName" | "serviceAccountName" | "nodeName";
  readonly uid: "podUID" | "serviceAccountUID" | "nodeUID";
}

function* validateReference(spec: PodCertificateRequestSpec, fields: ReferenceFields): Iterable<FieldError> {
  for (const message of validateDnsSubdomain(spec[fields.name])) yield invalid(`spec.${fields.name}`, spec[fields.name], message);
  const uid = spec[fields.uid];
  if (uid === "") yield invalid(`spec.${fields.uid}`, uid, "must not be empty");
  if (byteLength(uid) > UID_MAX_BYTES) yield tooLong(`spec.${fields.uid}`, UID_MAX_BYTES);
}

/** Exactly one form of the key. The older one, which kubelets before 1.36 send, is not supported. */
function* validateKey({ stubPKCS10Request, pkixPublicKey, proofOfPossession }: PodCertificateRequestSpec): Iterable<FieldError> {
  // An omitted one is decoded as null or as "".
  if (stubPKCS10Request && !pkixPublicKey && !proofOfPossession) yield* validateStub(stubPKCS10Request);
  else if (!stubPKCS10Request && pkixPublicKey && proofOfPossession) {
    yield invalidUnquoted("spec.pkixPublicKey", "deprecated and not supported by this version: stubPKCS10Request must be set instead");
  } else yield invalidUnquoted("spec", "exactly one of (stubPKCS10Request) or (pkixPublicKey, proofOfPossession) must be set");
}

function* validateStub(base64: string): Iterable<FieldError> {
  const at = "spec.stubPKCS10Request";
  const der = decodeBase64(base64);
  if (der.length > REQUEST_MAX_BYTES) {
    yield tooLong(at, REQUEST_MAX_BYTES);
    return;
  }
  const request = parsed(der);
  if (request === undefined) {
    yield invalidUnquoted(at, "must be a valid PKCS#10 CSR");
    return;
  }
  const problem = [...keyProblems(request.publicKey, at)];
  if (problem.length > 0) yield* problem;
  else if (!hasOwnSignature(request)) yield invalidUnquoted(at, "invalid signature");
}

function parsed(der: Uint8Array): CertificateRequest | undefined {
  try {
    return parseRequest(der);
  } catch (error) {
    if (error instanceof X509Error) return undefined;
    throw error;
  }
}

function* keyProblems(key: PublicKey | undefined, at: string): Iterable<FieldError> {
  switch (key?.algorithm) {
    case "Ed25519":
      return;
    case "ECDSA":
      if (!CURVES.includes(key.curve.name)) {
        yield invalid(at, `curve ${key.curve.name.replace("P", "P-")}`, "elliptic public keys must use curve P256, P384, or P521");
      }
      return;
    case "RSA": {
      const bits = Math.ceil(key.modulus.toString(2).length / 8) * 8;
      if (!RSA_BITS.includes(bits)) yield invalid(at, `${bits}-bit modulus`, "RSA keys must have modulus size 3072 or 4096");
      return;
    }
    default:
      yield invalidUnquoted(at, "unknown public key type; supported types are Ed25519, ECDSA, and RSA");
  }
}

function hasOwnSignature(request: CertificateRequest): boolean {
  try {
    checkRequestSignature(request);
    return true;
  } catch (error) {
    if (error instanceof X509Error) return false;
    throw error;
  }
}
