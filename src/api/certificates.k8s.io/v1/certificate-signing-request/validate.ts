/**
 * Validation of a CertificateSigningRequest and of its updates. Some rules are newer than the API: violations of a stored object may
 * remain.
 */
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition as RequestCondition,
  CertificateSigningRequestSpec as RequestSpec,
} from "../../../generated/certificates.k8s.io/v1.ts";
import { decodeBase64 } from "../../../machinery/codec/base64.ts";
import { quoteGo } from "../../../machinery/codec/go-text.ts";
import { duplicate, element, forbidden, invalid, notSupported, required, type FieldError } from "../../../machinery/field-error.ts";
import { checkCertificates } from "../../../machinery/x509/certificate.ts";
import { checkRequestSignature, parsePemRequest } from "../../../machinery/x509/certificate-request.ts";
import { refuse, X509Error } from "../../../machinery/x509/error.ts";
import { pemBlocks } from "../../../machinery/x509/pem.ts";
import { CLUSTER_SIGNER } from "../cluster-signers.ts";
import { validateSignerName } from "../signer-name.ts";
import { DECISIONS } from "./conditions.ts";

const USAGES: readonly string[] = [
  ...["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment", "decipher only"],
  ...["digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel", "ipsec user", "key agreement"],
  ...["key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime", "server auth", "signing", "timestamping"],
];
const EXPIRATION_MIN_SECONDS = 600;
/** These conditions must be True: otherwise they are absent. */
const TRUE_ONLY: readonly string[] = [...DECISIONS, "Failed"];
const STATUSES = ["False", "True", "Unknown"];

export function* validateRequest(request: CertificateSigningRequest, previous?: CertificateSigningRequest): Iterable<FieldError> {
  yield* validateSpec(request.spec, previous?.spec);
  yield* validateConditions(request.status?.conditions ?? [], previous?.status?.conditions ?? []);
  const certificate = request.status?.certificate ?? "";
  const before = previous?.status?.certificate ?? "";
  if (previous !== undefined && (certificate === before || certificateProblem(before) !== undefined)) return;
  const problem = certificateProblem(certificate);
  if (problem !== undefined) yield invalid("status.certificate", "<certificate data>", problem);
}

function* validateSpec(spec: RequestSpec, previous: RequestSpec | undefined): Iterable<FieldError> {
  const { usages = [], signerName, expirationSeconds } = spec;
  const problem = requestProblem(spec.request ?? "");
  // Go prints absent bytes as null.
  if (problem !== undefined) yield invalid("spec.request", spec.request, problem);
  if (usages.length === 0) yield required("spec.usages");
  if (!hasUnknown(previous?.usages ?? [])) {
    for (const [index, usage] of usages.entries()) {
      if (!USAGES.includes(usage)) yield notSupported(element("spec.usages", index), usage, USAGES);
    }
  }
  if (!hasDuplicates(previous?.usages ?? [])) {
    for (const [index, usage] of usages.entries()) {
      if (usages.indexOf(usage) < index) yield duplicate(element("spec.usages", index), usage);
    }
  }
  if (signerName === CLUSTER_SIGNER.legacy && previous?.signerName !== CLUSTER_SIGNER.legacy) {
    yield invalid("spec.signerName", signerName, "the legacy signerName is not allowed via this API version");
  } else yield* validateSignerName(signerName, "spec.signerName");
  if (expirationSeconds !== undefined && expirationSeconds < EXPIRATION_MIN_SECONDS) {
    const least = `${EXPIRATION_MIN_SECONDS} seconds (10 minutes)`;
    yield invalid("spec.expirationSeconds", expirationSeconds, `may not specify a duration less than ${least}`);
  }
}

function hasUnknown(usages: readonly string[]): boolean {
  return usages.some((usage) => !USAGES.includes(usage));
}

function hasDuplicates(values: readonly string[]): boolean {
  return new Set(values).size < values.length;
}

/** Cache of the last parsed request: every update of its object validates it again, and a signature takes milliseconds. */
let lastRequest = { text: "", problem: undefined as string | undefined };

function requestProblem(base64: string): string | undefined {
  if (base64 !== "" && lastRequest.text === base64) return lastRequest.problem;
  const problem = problemOf(() => checkRequestSignature(parsePemRequest(decodeBase64(base64))));
  lastRequest = { text: base64, problem };
  return problem;
}

/** One or more certificates and nothing else, if present. */
function certificateProblem(base64: string): string | undefined {
  if (base64 === "") return undefined;
  return problemOf(() => {
    let blocks = 0;
    for (const { type, hasHeaders, bytes } of pemBlocks(decodeBase64(base64))) {
      if (type !== "CERTIFICATE") refuse(`only CERTIFICATE PEM blocks are allowed, found ${quoteGo(type)}`);
      if (hasHeaders) refuse("no PEM block headers are permitted");
      if (checkCertificates(bytes) === 0) refuse("found CERTIFICATE PEM block containing 0 certificates");
      blocks++;
    }
    if (blocks === 0) refuse("must contain at least one CERTIFICATE PEM block");
  });
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof X509Error) return error.message;
    throw error;
  }
}

function* validateConditions(conditions: readonly RequestCondition[], previous: readonly RequestCondition[]): Iterable<FieldError> {
  const at = "status.conditions";
  const before = previous.map(({ type }) => type);
  const seen = new Set<string>();
  for (const [index, { type, status }] of conditions.entries()) {
    const here = element(at, index);
    if (type === "" && !before.includes("")) yield required(`${here}.type`);
    const allowed = TRUE_ONLY.includes(type) ? ["True"] : STATUSES;
    if (status === "") yield required(`${here}.status`);
    else if (!allowed.includes(status)) yield notSupported(`${here}.status`, status, allowed);
    const opposite = DECISIONS.includes(type) ? DECISIONS.find((decision) => decision !== type) : undefined;
    if (opposite !== undefined && seen.has(opposite) && !DECISIONS.every((decision) => before.includes(decision))) {
      yield invalid(at, type, "Approved and Denied conditions are mutually exclusive");
    }
    if (seen.has(type) && !hasDuplicates(before)) yield duplicate(`${here}.type`, type);
    seen.add(type);
  }
}

/** For a path that writes the status. The object's own path cannot change it. */
export function* validateRequestChange(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  path: "approval" | "status",
): Iterable<FieldError> {
  yield* validateRequest(next, previous);
  const countOf = (request: CertificateSigningRequest, type: string) =>
    (request.status?.conditions ?? []).filter((condition) => condition.type === type).length;
  for (const type of TRUE_ONLY) {
    if (countOf(next, type) >= countOf(previous, type)) continue;
    yield forbidden("status.conditions", `updates may not remove a condition of type "${type}"`);
  }
  for (const type of path === "approval" ? [] : DECISIONS) {
    if (countOf(next, type) <= countOf(previous, type)) continue;
    yield forbidden("status.conditions", `updates may not add a condition of type "${type}"`);
  }
  const before = previous.status?.certificate ?? "";
  // The path `approval` cannot change the certificate.
  if (before !== "" && (next.status?.certificate ?? "") !== before) {
    yield forbidden("status.certificate", "updates may not modify existing certificate content");
  }
}
