/** An authority and a signer of Pod certificates for tests, with fixed keys. */
import type { PodCertificateRequest, PodCertificateRequestStatus } from "../generated/certificates.k8s.io/v1beta1.ts";
import { decodeBase64, encodeBase64 } from "../machinery/codec/base64.ts";
import { formatTime } from "../machinery/time.ts";
import { parseRequest } from "../machinery/x509/certificate-request.ts";
import { selfIssuer, writeCertificate } from "../machinery/x509/certificate-writer.ts";
import { p256Key } from "../machinery/x509/p256-signer.ts";
import { pemBlocks, pemText } from "../machinery/x509/pem.ts";
import { writeRequest } from "../machinery/x509/request-writer.ts";

const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** PEM of an authority, of a key of its own for each number. */
export function anAuthority(number: bigint, { isAuthority = true } = {}): string {
  const { signer } = p256Key(number);
  const subject = { commonName: `authority ${number}`, organizations: [] };
  const validity = { fromMs: 0, toMs: 100 * YEAR_MS };
  const content = { subject, publicKey: signer.publicKey, validity, serialNumber: Uint8Array.of(1), isAuthority, keyUsages: [] };
  return pemText("CERTIFICATE", writeCertificate(content, selfIssuer(subject, signer)));
}

/** `stubPKCS10Request` of a key of its own for each number. */
export function aStubRequest(number: bigint): string {
  const [block] = pemBlocks(new TextEncoder().encode(writeRequest({}, p256Key(number).signer)));
  return encodeBase64(block?.bytes ?? new Uint8Array());
}

export interface IssueOptions {
  readonly nowMs: number;
  readonly lifetimeMs?: number;
  readonly dnsNames?: readonly string[];
}

/** The status by which the signer with the key of `authority` issues a certificate for the request's key; refreshed at half its lifetime. */
export function issuedStatus(
  { spec }: Pick<PodCertificateRequest, "spec">,
  authority: bigint,
  options: IssueOptions,
): PodCertificateRequestStatus {
  const { nowMs, lifetimeMs = HOUR_MS, dnsNames = [] } = options;
  const fromMs = Math.floor(nowMs / 1_000) * 1_000;
  const toMs = fromMs + lifetimeMs;
  const { publicKeyInfo: publicKey } = parseRequest(decodeBase64(spec.stubPKCS10Request ?? ""));
  const content = {
    subject: { commonName: spec.podName, organizations: [] },
    publicKey,
    validity: { fromMs, toMs },
    serialNumber: Uint8Array.of(7),
    alternativeNames: { dnsNames },
    keyUsages: [],
  };
  const issuer = selfIssuer({ commonName: `authority ${authority}`, organizations: [] }, p256Key(authority).signer);
  const lastTransitionTime = formatTime(fromMs);
  return {
    conditions: [{ type: "Issued", status: "True", reason: "Issued", message: "issued by the test", lastTransitionTime }],
    certificateChain: `a comment\n${pemText("CERTIFICATE", writeCertificate(content, issuer))}`,
    notBefore: formatTime(fromMs),
    beginRefreshAt: formatTime(fromMs + lifetimeMs / 2),
    notAfter: formatTime(toMs),
  };
}
