/**
 * What a client's certificate says of the client, read once per connection. That the client has its key, and who has signed it, was
 * found out in the handshake; a connection may outlive its certificate, so whether it is still valid is asked anew for each request.
 */
import { parseCertificates } from "../../api/machinery/x509/certificate.ts";
import { DerReader, TAG } from "../../api/machinery/x509/der.ts";
import { X509Error } from "../../api/machinery/x509/error.ts";
import { PURPOSE } from "../../api/machinery/x509/extensions.ts";
import { pemBlocks } from "../../api/machinery/x509/pem.ts";
import { readText } from "../../api/machinery/x509/strings.ts";
import type { Validity } from "../../api/machinery/x509/validity.ts";
import { sha256Hex } from "../../base/sha-256.ts";
import { AuthenticationError } from "../authentication.ts";
import type { PeerCertificate } from "../exchange.ts";

export interface PeerSubject extends Validity {
  /** "" if there is none. */
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Of an attribute that is Kubernetes' own. */
  readonly uids: readonly string[];
  /** Of the whole certificate, lower-case hexadecimal. */
  readonly fingerprint: string;
}

const KUBERNETES_UID = "1.3.6.1.4.1.57683.2";
const ANY_PURPOSE = "2.5.29.37.0";

const read = new WeakMap<PeerCertificate, PeerSubject | AuthenticationError>();

/** Throws an AuthenticationError if it cannot be read, is not for clients, or is not valid now. */
export function validSubject(certificate: PeerCertificate, nowMs: number): PeerSubject {
  let subject = read.get(certificate);
  if (subject === undefined) {
    subject = subjectOrError(certificate);
    read.set(certificate, subject);
  }
  if (subject instanceof AuthenticationError) throw subject;
  if (nowMs < subject.fromMs || nowMs > subject.toMs) throw new AuthenticationError("x509: certificate has expired or is not yet valid");
  return subject;
}

function subjectOrError({ pem }: PeerCertificate): PeerSubject | AuthenticationError {
  try {
    return readSubject(pem);
  } catch (error) {
    if (error instanceof AuthenticationError) return error;
    if (error instanceof X509Error) return new AuthenticationError(error.message, { cause: error });
    throw error;
  }
}

function readSubject(pem: string): PeerSubject {
  const [block] = pemBlocks(new TextEncoder().encode(pem));
  const der = block?.bytes ?? new Uint8Array();
  const [certificate] = parseCertificates(der);
  if (certificate === undefined) throw new AuthenticationError("x509: malformed certificate");
  const { subject, fromMs, toMs, extendedKeyUsages: purposes } = certificate;
  if (purposes !== undefined && !purposes.includes(PURPOSE.client) && !purposes.includes(ANY_PURPOSE))
    throw new AuthenticationError("x509: certificate specifies an incompatible key usage");
  return {
    commonName: subject.commonName,
    organizations: subject.organizations,
    uids: uidsIn(subject.der),
    fromMs,
    toMs,
    fingerprint: sha256Hex(der).toLowerCase(),
  };
}

/** `name` was read before, so it is a good one. */
function uidsIn(name: Uint8Array): readonly string[] {
  const uids: string[] = [];
  const sets = new DerReader(name).inside(TAG.sequence);
  for (let set = sets?.inside(TAG.set); set !== undefined; set = sets?.inside(TAG.set)) {
    for (let part = set.inside(TAG.sequence); part !== undefined; part = set.inside(TAG.sequence)) {
      const isUid = part.objectIdentifier() === KUBERNETES_UID;
      const value = part.any();
      if (isUid && value !== undefined) uids.push(readText(value.tag, value.content) ?? "");
    }
  }
  return uids;
}
