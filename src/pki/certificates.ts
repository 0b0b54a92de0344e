/**
 * Issues the certificates of a cluster: a CA, and leaf certificates. Pure: keys, serial numbers and lifetimes come from the
 * `CertificateMaker`, so that they are deterministic with virtual time (fixed-pki.ts).
 */
import { formatIp, parseIp } from "../api/machinery/ip/ip-address.ts";
import { parsePemCertificates, type Certificate } from "../api/machinery/x509/certificate.ts";
import { issuerOf, selfIssuer, writeCertificate } from "../api/machinery/x509/certificate-writer.ts";
import { PURPOSE } from "../api/machinery/x509/extensions.ts";
import { pemText } from "../api/machinery/x509/pem.ts";
import type { Subject } from "../api/machinery/x509/subject.ts";
import type { Validity } from "../api/machinery/x509/validity.ts";
import type { Signer } from "../base/crypto/signing.ts";

/** PEM. */
export interface CertificateWithKey {
  readonly certificate: string;
  readonly key: string;
}

export interface PrivateKey {
  /** PKCS #8. */
  readonly pem: string;
  readonly signer: Signer;
}

/** Supplied by the machine, or from a fixed list. */
export interface CertificateMaker {
  newKey(): PrivateKey;
  /** Throws an error about the file that contains it. */
  readKey(pem: string): Signer;
  /** A new serial number. */
  newSerialNumber(): Uint8Array;
  /** True if one certificate has signed the other, both PEM. */
  isSignedBy(certificate: string, authority: string): boolean;
  validity(of: "authority" | "leaf", nowMs: number): Validity;
}

/** Caches parsed and generated keys: OpenSSL takes a good part of a millisecond to parse one. */
export function trackLocation(maker: CertificateMaker): CertificateMaker {
  const known = new Map<string, Signer>();
  const cacheKey = (pem: string, signer: Signer) => {
    if (known.size >= KEYS_CACHED_MAX) known.clear();
    known.set(pem, signer);
    return signer;
  };
  return {
    ...maker,
    newKey() {
      const key = maker.newKey();
      cacheKey(key.pem, key.signer);
      return key;
    },
    readKey: (pem) => known.get(pem) ?? cacheKey(pem, maker.readKey(pem)),
  };
}

/** More than a cluster has; keys of renewed certificates are evicted. */
const KEYS_CACHED_MAX = 50;

export interface LeafRequest {
  readonly subject: Subject;
  readonly purpose: "server" | "client";
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
}

/** Self-signed. With an existing key it replaces the CA certificate of that key: certificates that it signed remain valid. */
export function makeAuthority(commonName: string, key: PrivateKey, maker: CertificateMaker, nowMs: number): CertificateWithKey {
  const subject = { commonName, organizations: [] };
  const der = writeCertificate(
    {
      subject,
      publicKey: key.signer.publicKey,
      validity: maker.validity("authority", nowMs),
      serialNumber: maker.newSerialNumber(),
      isAuthority: true,
      keyUsages: ["digitalSignature", "keyEncipherment", "certSign", "crlSign"],
    },
    selfIssuer(subject, key.signer),
  );
  return { certificate: pemText("CERTIFICATE", der), key: key.pem };
}

/** Signer: a parsed certificate and its key. */
export interface SigningAuthority {
  readonly certificate: Certificate;
  readonly signer: Signer;
}

export function makeLeaf(request: LeafRequest, authority: SigningAuthority, maker: CertificateMaker, nowMs: number): CertificateWithKey {
  const key = maker.newKey();
  const { fromMs, toMs } = maker.validity("leaf", nowMs);
  const der = writeCertificate(
    {
      subject: request.subject,
      publicKey: key.signer.publicKey,
      // A certificate must not outlive its CA.
      validity: { fromMs, toMs: Math.min(toMs, authority.certificate.toMs) },
      serialNumber: maker.newSerialNumber(),
      keyUsages: ["digitalSignature"],
      extendedKeyUsages: [PURPOSE[request.purpose]],
      alternativeNames: {
        dnsNames: request.names.filter((name) => ipBytes(name) === undefined),
        ipAddresses: request.names.flatMap((name) => ipBytes(name) ?? []),
      },
    },
    issuerOf(authority.certificate, authority.signer),
  );
  return { certificate: pemText("CERTIFICATE", der), key: key.pem };
}

/** The first certificate of a PEM text; undefined if there is no readable one. */
export function firstCertificate(pem: string | undefined): Certificate | undefined {
  if (pem === undefined) return undefined;
  try {
    return parsePemCertificates(pem)[0];
  } catch {
    return undefined;
  }
}

/** DNS names and IP addresses, the latter in canonical form. */
export function namesOf({ dnsNames, ipAddresses }: Certificate): readonly string[] {
  return [...dnsNames, ...ipAddresses.map(ipText)];
}

/** Network order. Undefined: not an IP address. */
export function ipBytes(text: string): Uint8Array | undefined {
  const address = parseIp(text);
  if (address === undefined) return undefined;
  const size = address.family === 4 ? 4 : 16;
  return Uint8Array.from({ length: size }, (_, index) => Number((address.value >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

function ipText(bytes: Uint8Array): string {
  const value = bytes.reduce((total, byte) => (total << 8n) | BigInt(byte), 0n);
  return formatIp({ family: bytes.length === 4 ? 4 : 6, value });
}
