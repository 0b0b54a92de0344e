/**
 * Issues the certificate of a request: its subject, names and key, for the requested usages, and nothing else from the request. Never a CA
 * certificate, and never longer than the CA's own validity. Pure.
 */
import type { Random } from "../../base/random.ts";
import type { Signer } from "../../base/crypto/signing.ts";
import { parsePemCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { checkRequestSignature, type CertificateRequest } from "../../api/machinery/x509/certificate-request.ts";
import { issuerOf, writeCertificate } from "../../api/machinery/x509/certificate-writer.ts";
import { writeName } from "../../api/machinery/x509/name-writer.ts";
import { pemText } from "../../api/machinery/x509/pem.ts";
import type { Validity } from "../../api/machinery/x509/validity.ts";
import { formatTime } from "../../api/machinery/time.ts";
import { certificateUsages } from "./key-usages.ts";

export interface SigningAuthority {
  /** PEM. Read each time, so that it can be renewed. */
  readonly certificate: string;
  /** Signs with the CA's private key. */
  readonly signer: Signer;
}

export interface Wanted {
  readonly request: CertificateRequest;
  /** As in the API. */
  readonly usages: readonly string[];
  /** Requested lifetime. */
  readonly durationMs: number;
}

const MINUTE_MS = 60_000;
/** Backdating: verifiers' clocks may be behind ours. */
const BACKDATED_MS = 5 * MINUTE_MS;
/** For shorter lifetimes five minutes would be more than a hundredth: then the end is not moved, too. */
const SHORT_MS = 480 * MINUTE_MS;
/** Twice the backdating. */
const DURATION_MIN_MS = 2 * BACKDATED_MS;

/** Shorter if requested, never longer. */
export function durationOf(expirationSeconds: number | undefined, durationMaxMs: number): number {
  if (expirationSeconds === undefined) return durationMaxMs;
  const askedMs = expirationSeconds * 1_000;
  return askedMs > durationMaxMs ? durationMaxMs : Math.max(askedMs, DURATION_MIN_MS);
}

/** PEM. Throws if the request is not signed with its own key, or the CA has expired. */
export function issueCertificate(
  { request, usages, durationMs }: Wanted,
  authority: SigningAuthority,
  nowMs: number,
  random: Random,
): string {
  checkRequestSignature(request);
  const [issuer] = parsePemCertificates(authority.certificate);
  if (issuer === undefined) throw new Error("Cannot sign a certificate: the authority's certificate is none in PEM form");
  const { dnsNames, emailAddresses, ipAddresses, uris } = request;
  const der = writeCertificate(
    {
      subject: writeName(request.subjectParts),
      publicKey: request.publicKeyInfo,
      validity: validityOf(durationMs, issuer, nowMs),
      serialNumber: serialNumber(random),
      alternativeNames: { dnsNames, emailAddresses, ipAddresses, uris },
      hasNoKeyIdentifier: true,
      ...certificateUsages(usages),
    },
    issuerOf(issuer, authority.signer),
  );
  return pemText("CERTIFICATE", der);
}

export function validityOf(durationMs: number, { toMs: authorityToMs }: Pick<Certificate, "toMs">, nowMs: number): Validity {
  if (authorityToMs <= nowMs) throw new Error(`Cannot sign a certificate: the authority's own has ended at ${formatTime(authorityToMs)}`);
  const toMs = nowMs + durationMs - (durationMs < SHORT_MS ? 0 : BACKDATED_MS);
  return { fromMs: nowMs - BACKDATED_MS, toMs: Math.min(toMs, authorityToMs) };
}

const SERIAL_NUMBER_BYTES = 16;

/** Unique by its random bits; positive and not zero. */
function serialNumber(random: Random): Uint8Array {
  const bytes = Uint8Array.from({ length: SERIAL_NUMBER_BYTES }, () => random.below(256));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
