/**
 * Makes the certificates of a cluster: an authority, and what it signs. Pure: keys, numbers and lengths of life are the `CertificateMaker`'s,
 * so that under virtual time they repeat (fixed-pki.ts).
 */
import { formatIp, parseIp } from "../api/machinery/ip-address.ts";
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

/** What comes from the machine, or from a fixed list. */
export interface CertificateMaker {
  newKey(): PrivateKey;
  /** Throws one sentence about the file that holds it. */
  readKey(pem: string): Signer;
  /** A number that no certificate has yet. */
  newSerialNumber(): Uint8Array;
  /** Whether one certificate has signed the other, both PEM. */
  isSignedBy(certificate: string, authority: string): boolean;
  validity(of: "authority" | "leaf", nowMs: number): Validity;
}

/** Reads no key twice, and none that it has made: OpenSSL takes a good part of a millisecond for each. */
export function trackLocation(maker: CertificateMaker): CertificateMaker {
  const known = new Map<string, Signer>();
  const remember = (pem: string, signer: Signer) => {
    if (known.size >= KEYS_REMEMBERED_MAX) known.clear();
    known.set(pem, signer);
    return signer;
  };
  return {
    ...maker,
    newKey() {
      const key = maker.newKey();
      remember(key.pem, key.signer);
      return key;
    },
    readKey: (pem) => known.get(pem) ?? remember(pem, maker.readKey(pem)),
  };
}

/** More than a cluster has; those of renewed certificates are not kept for ever. */
const KEYS_REMEMBERED_MAX = 50;

export interface LeafRequest {
  readonly subject: Subject;
  readonly purpose: "server" | "client";
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
}

/** Signs itself. With a key that is there already it stands for the authority that had it before: what that has signed remains good. */
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

/** Who signs: a certificate, read, and its key. */
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
      // What outlives its authority would be good for nothing.
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

/** The first certificate of a PEM text; undefined if there is none that can be read. */
export function firstCertificate(pem: string | undefined): Certificate | undefined {
  if (pem === undefined) return undefined;
  try {
    return parsePemCertificates(pem)[0];
  } catch {
    return undefined;
  }
}

/** DNS names and IP addresses, the latter in their usual form. */
export function namesOf({ dnsNames, ipAddresses }: Certificate): readonly string[] {
  return [...dnsNames, ...ipAddresses.map(ipText)];
}

function ipBytes(text: string): Uint8Array | undefined {
  const address = parseIp(text);
  if (address === undefined) return undefined;
  const size = address.family === 4 ? 4 : 16;
  return Uint8Array.from({ length: size }, (_, index) => Number((address.value >> BigInt(8 * (size - 1 - index))) & 0xffn));
}

function ipText(bytes: Uint8Array): string {
  const value = bytes.reduce((total, byte) => (total << 8n) | BigInt(byte), 0n);
  return formatIp({ family: bytes.length === 4 ? 4 : 6, value });
}
