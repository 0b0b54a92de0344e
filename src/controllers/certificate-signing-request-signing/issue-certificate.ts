/**
 * The certificate that a request gets: its subject, its names and its key, for the usages that were asked for, and nothing else of what the
 * request says. Not an authority, and not good for longer than the authority that signs it. Pure.
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
  /** PEM. Read each time, so that it may be renewed meanwhile. */
  readonly certificate: string;
  /** Has the private key of the certificate. */
  readonly signer: Signer;
}

export interface Wanted {
  readonly request: CertificateRequest;
  /** In the words of the API. */
  readonly usages: readonly string[];
  /** For how long it is to be good. */
  readonly durationMs: number;
}

const MINUTE_MS = 60_000;
/** The clocks of those who look at a certificate may be behind ours. */
const BACKDATED_MS = 5 * MINUTE_MS;
/** Of what is good for less than this, five minutes would be more than a hundredth: then its end is not moved, too. */
const SHORT_MS = 480 * MINUTE_MS;
/** Twice what it is backdated. */
const DURATION_MIN_MS = 2 * BACKDATED_MS;

/** Shorter if that was asked for, never longer. */
export function durationOf(expirationSeconds: number | undefined, durationMaxMs: number): number {
  if (expirationSeconds === undefined) return durationMaxMs;
  const askedMs = expirationSeconds * 1_000;
  return askedMs > durationMaxMs ? durationMaxMs : Math.max(askedMs, DURATION_MIN_MS);
}

/** PEM. Throws if the request is not signed with its own key, or the authority cannot sign any more. */
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

/** More than chance could give twice; not negative, and not zero. */
function serialNumber(random: Random): Uint8Array {
  const bytes = Uint8Array.from({ length: SERIAL_NUMBER_BYTES }, () => random.below(256));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes;
}
