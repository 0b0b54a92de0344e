/**
 * Validation of a signer's answer to a PodCertificateRequest: exactly one of Issued, Denied and Failed, and with Issued a certificate for
 * the requested key with matching times. Not here: the comparison with the server's time (apiserver/resources/pod-certificate-request).
 */
import type { PodCertificateRequest, PodCertificateRequestStatus } from "../../../generated/certificates.k8s.io/v1beta1.ts";
import { deepEqual } from "../../../../base/deep.ts";
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { validateConditions } from "../../../machinery/conditions.ts";
import { invalid, invalidUnquoted, notSupported, required, tooLong, type FieldError } from "../../../machinery/field-error.ts";
import { byteLength } from "../../../machinery/names.ts";
import { parseTime } from "../../../machinery/time.ts";
import { parseCertificates, type Certificate } from "../../../machinery/x509/certificate.ts";
import { parseRequest } from "../../../machinery/x509/certificate-request.ts";
import { X509Error } from "../../../machinery/x509/error.ts";
import { pemBlocks } from "../../../machinery/x509/pem.ts";

const ANSWERS: readonly string[] = ["Issued", "Denied", "Failed"];
const CHAIN = "status.certificateChain";
/** Upstream's limit. */
const CHAIN_MAX_BYTES = 100 * 1024;
const LIFETIME_MIN_MS = 3_600_000;
/** The refresh begins at least this long after the start and before the end of a certificate. */
const REFRESH_MARGIN_MS = 600_000;
/** As Go's net/mail: one at sign between non-empty parts without spaces. */
const EMAIL = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()\\,;:"]+$/;

export function* validateAnswer(next: PodCertificateRequest, previous: PodCertificateRequest): Iterable<FieldError> {
  const { status = {} } = next;
  const wrong = [...validateKnownConditions(status)];
  if (wrong.length > 0) yield* wrong;
  else if (answerOf(previous.status) !== undefined) {
    if (!deepEqual(status, previous.status)) {
      yield invalidUnquoted("status", "immutable after PodCertificateRequest is issued, denied, or failed");
    }
  } else yield* validateFirstAnswer(next, previous);
}

function* validateFirstAnswer(next: PodCertificateRequest, previous: PodCertificateRequest): Iterable<FieldError> {
  const { status = {} } = next;
  const answer = answerOf(status);
  if (answer === "Issued") yield* validateIssued(next);
  else if (answer !== undefined) {
    const { conditions: _conditions, ...others } = status;
    if (Object.keys(others).length > 0) {
      yield invalidUnquoted("status", "non-condition status fields must be empty when denying or failing the PodCertificateRequest");
    }
  } else if (!deepEqual(status, previous.status ?? {})) {
    yield invalidUnquoted("status", 'status is immutable unless transitioning to "Issued", "Denied", or "Failed"');
  }
}

/** Issued, Denied or Failed; undefined while the request is pending. */
export function answerOf(status: PodCertificateRequestStatus | undefined): string | undefined {
  return (status?.conditions ?? []).find((condition) => ANSWERS.includes(condition.type) && condition.status === "True")?.type;
}

function* validateKnownConditions({ conditions = [] }: PodCertificateRequestStatus): Iterable<FieldError> {
  let known = 0;
  for (const [index, { type, status }] of conditions.entries()) {
    // Upstream's path has a dot before the index.
    const here = `status.conditions.[${index}]`;
    if (!ANSWERS.includes(type)) {
      yield notSupported(`${here}.type`, type, ["Denied", "Failed", "Issued"]);
      continue;
    }
    known++;
    if (known > 1) yield invalid(`${here}.type`, type, 'There may be at most one condition with type "Issued", "Denied", or "Failed"');
    if (status !== "True") yield notSupported(`${here}.status`, status, ["True"]);
  }
  yield* validateConditions(conditions, "status.conditions");
}

function* validateIssued(request: PodCertificateRequest): Iterable<FieldError> {
  const chain = request.status?.certificateChain ?? "";
  if (byteLength(chain) > CHAIN_MAX_BYTES) {
    yield tooLong(CHAIN, CHAIN_MAX_BYTES);
    return;
  }
  const [leafBlock, ...rest] = pemBlocks(new TextEncoder().encode(chain));
  const refused = (detail: string): FieldError => invalid(CHAIN, chain, detail);
  if (leafBlock === undefined) yield refused("issued certificate chain must contain at least one certificate");
  else if (leafBlock.type !== "CERTIFICATE") yield refused("issued certificate chain must consist entirely of CERTIFICATE PEM blocks");
  else {
    const leaf = certificateOf(leafBlock.bytes);
    if (leaf === undefined) {
      yield refused("leaf certificate does not parse as valid X.509");
      return;
    }
    const wrong = [...validateLeaf(request, leaf)];
    yield* wrong;
    if (wrong.length > 0) return;
    for (const { type, bytes } of rest) {
      // Upstream's spelling.
      if (type !== "CERTIFICATE") yield refused("issued certificate chain must consist entirely of CERTFICATE PEM blocks");
      else if (certificateOf(bytes) === undefined) yield refused("intermediate certificate does not parse as valid X.509");
      else continue;
      return;
    }
  }
}

/** The first mistake only, except in names. */
function* validateLeaf(request: PodCertificateRequest, leaf: Certificate): Iterable<FieldError> {
  const wrong = [...validateNames(leaf)];
  yield* wrong;
  if (!isFor(leaf, request)) {
    yield invalid(CHAIN, request.status?.certificateChain, "leaf certificate was not issued to the requested public key");
    return;
  }
  const { status = {} } = request;
  const consistent = "must be present and consistent with the issued certificate";
  const missing: FieldError[] = [];
  if (status.notBefore === undefined) missing.push(required("status.notBefore", consistent));
  if (status.notAfter === undefined) missing.push(required("status.notAfter", consistent));
  if (status.beginRefreshAt === undefined) {
    missing.push(required("status.beginRefreshAt", "must be present and in the range [notbefore+10min, notafter-10min]"));
  }
  yield* missing;
  if (wrong.length + missing.length > 0) return;
  const problem = timeProblem(request, leaf);
  if (problem !== undefined) yield problem;
}

function* validateNames({ dnsNames, emailAddresses }: Certificate): Iterable<FieldError> {
  for (const name of dnsNames) {
    if (name === "") yield invalid(CHAIN, name, "leaf certificate should not contain empty DNSName");
    if (name.includes("..")) yield invalid(CHAIN, name, "leaf certificate's DNSName should not contain '..'");
    if (name.startsWith(".") || name.endsWith(".")) {
      yield invalid(CHAIN, name, "leaf certificate's DNSName should not start or end with '.'");
    }
  }
  for (const address of emailAddresses) {
    if (!EMAIL.test(address)) yield invalid(CHAIN, address, "leaf certificate should not contain invalid EmailAddress");
  }
}

function isFor({ publicKeyInfo }: Certificate, { spec }: PodCertificateRequest): boolean {
  const wanted = parseRequest(decodeBase64(spec.stubPKCS10Request ?? "")).publicKeyInfo;
  return wanted.length === publicKeyInfo.length && wanted.every((byte, index) => byte === publicKeyInfo[index]);
}

function timeProblem({ spec, status = {} }: PodCertificateRequest, { fromMs, toMs }: Certificate): FieldError | undefined {
  const { notBefore, notAfter, beginRefreshAt } = status;
  const [beforeMs, afterMs, refreshMs] = [notBefore, notAfter, beginRefreshAt].map((time) => parseTime(time ?? "") ?? 0) as [
    number,
    number,
    number,
  ];
  const encoded = (name: string): string => `must be set to the ${name} time encoded in the leaf certificate`;
  const lifetimeMs = toMs - fromMs;
  const maxSeconds = spec.maxExpirationSeconds ?? 0;
  if (beforeMs !== fromMs) return invalid("status.notBefore", notBefore, encoded("NotBefore"));
  if (afterMs !== toMs) return invalid("status.notAfter", notAfter, encoded("NotAfter"));
  if (lifetimeMs < LIFETIME_MIN_MS) return invalid(CHAIN, lifetimeMs * 1_000_000, "leaf certificate lifetime must be >= 1 hour");
  if (lifetimeMs > maxSeconds * 1_000) {
    return invalid(CHAIN, lifetimeMs * 1_000_000, `leaf certificate lifetime must be <= spec.maxExpirationSeconds (${maxSeconds})`);
  }
  if (refreshMs < beforeMs + REFRESH_MARGIN_MS) {
    return invalid("status.beginRefreshAt", beginRefreshAt, "must be at least 10 minutes after status.notBefore");
  }
  if (refreshMs > afterMs - REFRESH_MARGIN_MS) {
    return invalid("status.beginRefreshAt", beginRefreshAt, "must be at least 10 minutes before status.notAfter");
  }
  return undefined;
}

function certificateOf(der: Uint8Array): Certificate | undefined {
  try {
    const [certificate, ...more] = parseCertificates(der);
    return more.length > 0 ? undefined : certificate;
  } catch (error) {
    if (error instanceof X509Error) return undefined;
    throw error;
  }
}
