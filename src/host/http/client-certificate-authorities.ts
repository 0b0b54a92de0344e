/**
 * Finds the CAs that signed the certificate which a client presented in the handshake. OpenSSL verifies it against all CAs together and
 * does not say which one it was; here the chain is followed once more, by signatures, to the CAs in which it ends, so that one CA's
 * certificates are never mistaken for another's, even if both have the same name.
 */
import { X509Certificate } from "node:crypto";

/** Maximum length of a chain: more intermediates are not used in practice. */
const CHAIN_MAX = 8;

/** Extended key usages by which a certificate is for clients. */
const CLIENT_PURPOSES = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"];

/**
 * Errors of OpenSSL that are checked again here: of several CAs with one name it tries only one, and it does not support the purpose "any".
 * Both only for a certificate that a CA signed directly; intermediates have more rules, which are left to OpenSSL.
 */
const DECIDED_HERE = ["CERT_SIGNATURE_FAILURE", "INVALID_PURPOSE"];

interface Authority {
  readonly name: string;
  readonly certificates: readonly X509Certificate[];
}

export interface ShownCertificate {
  readonly certificate: X509Certificate;
  /** OpenSSL's verification error. */
  readonly problem: string | undefined;
  readonly nowMs: number;
}

export class ClientAuthorities {
  readonly #authorities: readonly Authority[];

  /** PEM bundles by name. */
  constructor(bundles: Readonly<Record<string, string>>) {
    this.#authorities = Object.entries(bundles).map(([name, bundle]) => ({ name, certificates: certificatesOf(bundle) }));
  }

  /**
   * Names of the CAs that signed it, directly or through intermediates that the client sent; none if it is not valid now. Each is checked
   * independently: one certificate may be in several bundles.
   */
  signersOf(shown: ShownCertificate): readonly string[] {
    if (!isGoodFor(shown.certificate, shown.nowMs)) return [];
    return this.#authorities.filter((authority) => isSignedBy(shown, authority)).map(({ name }) => name);
  }
}

function isSignedBy({ certificate, problem, nowMs }: ShownCertificate, authority: Authority): boolean {
  if (isDirectlySignedBy(certificate, authority, nowMs)) return problem === undefined || DECIDED_HERE.includes(problem);
  return problem === undefined && isSignedThrough(certificate, authority, nowMs);
}

function isSignedThrough(leaf: X509Certificate, authority: Authority, nowMs: number): boolean {
  const between = shownBetween(leaf);
  let current = leaf;
  for (let length = 1; length < CHAIN_MAX; length++) {
    const next = between.find((one) => one.ca && isGoodFor(one, nowMs) && isIssuedBy(current, one));
    if (next === undefined) return false;
    if (isDirectlySignedBy(next, authority, nowMs)) return true;
    between.splice(between.indexOf(next), 1);
    current = next;
  }
  return false;
}

/** A certificate that is itself among the trusted ones needs no signature. */
function isDirectlySignedBy(certificate: X509Certificate, { certificates }: Authority, nowMs: number): boolean {
  return certificates.some((one) => isValid(one, nowMs) && (one.raw.equals(certificate.raw) || (one.ca && isIssuedBy(certificate, one))));
}

function certificatesOf(bundle: string): readonly X509Certificate[] {
  const blocks = bundle.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** The other certificates of the handshake, in any order. */
function shownBetween(leaf: X509Certificate): X509Certificate[] {
  const between: X509Certificate[] = [];
  for (let next = leaf.issuerCertificate; next !== undefined && between.length < CHAIN_MAX; next = next.issuerCertificate)
    between.push(next);
  return between;
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** The purposes of a CA apply to what it signs; without any, all are allowed. */
function isGoodFor(certificate: X509Certificate, nowMs: number): boolean {
  // Node's types declare it as always present.
  const purposes = certificate.keyUsage as readonly string[] | undefined;
  return isValid(certificate, nowMs) && (purposes === undefined || purposes.some((purpose) => CLIENT_PURPOSES.includes(purpose)));
}

function isValid({ validFrom, validTo }: X509Certificate, nowMs: number): boolean {
  return Date.parse(validFrom) <= nowMs && nowMs <= Date.parse(validTo);
}
