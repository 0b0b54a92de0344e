/**
 * The client certificate of a connection, parsed once per connection. The TLS handshake has verified possession of the key and the issuer;
 * a connection may outlive its certificate, so validity is checked for each request.
 */
import { parseCertificates, type Certificate } from "../../api/machinery/x509/certificate.ts";
import { X509Error } from "../../api/machinery/x509/error.ts";
import { PURPOSE } from "../../api/machinery/x509/extensions.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";
import { sha256Hex } from "../../base/crypto/hash.ts";
import { AuthenticationError } from "../framework/authentication.ts";
import type { PeerCertificate } from "../framework/exchange.ts";

export interface PeerSubject {
  /** "" if none exists; of several the last, as Go. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** From the Kubernetes UID attribute. */
  readonly uids: readonly string[];
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SHA-256 of the whole certificate, lower-case hexadecimal. */
  readonly fingerprint: string;
}

const KUBERNETES_UID = "1.3.6.1.4.1.57683.2";

/** A certificate without extended key usages is valid for all. */
const CLIENT_USAGES: readonly string[] = [PURPOSE.client, PURPOSE.any];

const read = new WeakMap<PeerCertificate, PeerSubject | AuthenticationError>();

/** Throws an AuthenticationError if the certificate cannot be parsed or is not valid now. */
export function validSubject(certificate: PeerCertificate, nowMs: number): PeerSubject {
  let subject = read.get(certificate);
  if (subject === undefined) {
    subject = subjectOrError(certificate);
    read.set(certificate, subject);
  }
  if (subject instanceof AuthenticationError) throw subject;
  if (nowMs < subject.notBeforeMs || nowMs > subject.notAfterMs)
    throw new AuthenticationError(`x509: certificate of "${subject.commonName}" has expired or is not yet valid`);
  return subject;
}

function subjectOrError({ pem }: PeerCertificate): PeerSubject | AuthenticationError {
  const [block] = pemBlocks(new TextEncoder().encode(pem));
  try {
    const [certificate] = block === undefined ? [] : parseCertificates(block.bytes);
    if (block === undefined || certificate === undefined) return new AuthenticationError("x509: malformed certificate");
    // The handshake checked the intermediates, but reports only one error for this one.
    if (certificate.unhandledCriticalExtensions.length > 0) return new AuthenticationError("x509: unhandled critical extension");
    return isForClients(certificate)
      ? subjectOf(certificate, block.bytes)
      : new AuthenticationError("x509: certificate specifies an incompatible key usage");
  } catch (error) {
    if (error instanceof X509Error) return new AuthenticationError(error.message, { cause: error });
    throw error;
  }
}

function isForClients({ extendedKeyUsages }: Certificate): boolean {
  return extendedKeyUsages === undefined || extendedKeyUsages.some((usage) => CLIENT_USAGES.includes(usage));
}

function subjectOf({ subject, fromMs, toMs }: Certificate, der: Uint8Array): PeerSubject {
  return {
    commonName: subject.commonName,
    organizations: subject.organizations,
    uids: subject.parts.flatMap(({ type, text }) => (type === KUBERNETES_UID && text !== undefined ? [text] : [])),
    notBeforeMs: fromMs,
    notAfterMs: toMs,
    fingerprint: sha256Hex(der).toLowerCase(),
  };
}
