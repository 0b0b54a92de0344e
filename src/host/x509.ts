/**
 * Making X.509 certificates with keys on the curve P-256: a certificate authority and what it signs. Written here and not taken from a
 * package, since it is short and every start of a new cluster waits for it.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  utf8String,
  type Der,
} from "./der.ts";

/** PEM. */
export interface CertificateWithKey {
  readonly certificate: string;
  readonly key: string;
}

export interface Validity {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Signs itself, and may sign others. */
export function makeAuthority(commonName: string, validity: Validity): CertificateWithKey {
  const key = newKey();
  const extensions = [
    extension(OID.basicConstraints, sequence(boolean(true)), { critical: true }),
    // digitalSignature, keyCertSign, cRLSign
    extension(OID.keyUsage, bitString(Buffer.from([0b1000_0110]), 1), { critical: true }),
  ];
  return certify({ commonName, key, validity, extensions, issuer: { commonName, key } });
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** Which end of a connection it is for. */
  readonly purpose: "server" | "client";
  /** DNS names and IP addresses. */
  readonly names: readonly string[];
  readonly validity: Validity;
}

export function makeCertificate(
  { commonName, organizations = [], purpose, names, validity }: CertificateRequest,
  authority: CertificateWithKey & { readonly commonName: string },
): CertificateWithKey {
  const extensions = [
    extension(OID.basicConstraints, sequence(), { critical: true }),
    extension(OID.keyUsage, bitString(Buffer.from([0b1000_0000]), 7), { critical: true }), // digitalSignature
    extension(OID.extendedKeyUsage, sequence(objectIdentifier(OID[purpose]))),
    ...(names.length === 0 ? [] : [extension(OID.subjectAlternativeName, sequence(...names.map(generalName)))]),
  ];
  const issuer = { commonName: authority.commonName, key: createPrivateKey(authority.key) };
  return certify({ commonName, organizations, key: newKey(), validity, extensions, issuer });
}

const OID = {
  commonName: "2.5.4.3",
  ecdsaWithSha256: "1.2.840.10045.4.3.2",
  basicConstraints: "2.5.29.19",
  keyUsage: "2.5.29.15",
  extendedKeyUsage: "2.5.29.37",
  server: "1.3.6.1.5.5.7.3.1",
  client: "1.3.6.1.5.5.7.3.2",
  subjectAlternativeName: "2.5.29.17",
  subjectKeyIdentifier: "2.5.29.14",
  authorityKeyIdentifier: "2.5.29.35",
} as const;

const SIGNATURE_ALGORITHM = sequence(objectIdentifier(OID.ecdsaWithSha256));

/** The third version is the one with extensions. */
const VERSION_3 = explicit(0, integer(2n));

const SERIAL_NUMBER_BYTES = 16;

function newKey(): KeyObject {
  return generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
}

interface Certified {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly key: KeyObject;
  readonly validity: Validity;
  readonly extensions: readonly Der[];
  readonly issuer: { readonly commonName: string; readonly key: KeyObject };
}

function certify({ commonName, organizations = [], key, validity, extensions, issuer }: Certified): CertificateWithKey {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const content = sequence(
    VERSION_3,
    integer(BigInt(`0x${randomBytes(SERIAL_NUMBER_BYTES).toString("hex")}`)),
    SIGNATURE_ALGORITHM,
    nameOf(issuer.commonName),
    sequence(time(validity.fromMs), time(validity.toMs)),
    nameOf(commonName, organizations),
    publicKey,
    explicit(
      3,
      sequence(
        ...extensions,
        extension(OID.subjectKeyIdentifier, octetString(identifierOf(key))),
        extension(OID.authorityKeyIdentifier, sequence(implicit(0, identifierOf(issuer.key)))),
      ),
    ),
  );
  const certificate = sequence(content, SIGNATURE_ALGORITHM, bitString(sign("sha256", content, issuer.key)));
  return { certificate: pem("CERTIFICATE", certificate), key: key.export({ type: "pkcs8", format: "pem" }) as string };
}

function extension(identifier: string, value: Der, { critical = false }: { readonly critical?: boolean } = {}): Der {
  return sequence(objectIdentifier(identifier), ...(critical ? [boolean(true)] : []), octetString(value));
}

function nameOf(commonName: string, organizations: readonly string[] = []): Der {
  return sequence(...organizations.map((one) => set(sequence(objectIdentifier("2.5.4.10"), utf8String(one)))), set(sequence(objectIdentifier(OID.commonName), utf8String(commonName))));
}

/** Which of several authorities of one name has signed. Any value that differs from key to key will do. */
function identifierOf(key: KeyObject): Buffer {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  return createHash("sha256").update(publicKey).digest().subarray(0, 20);
}

function generalName(name: string): Der {
  if (isIPv4(name)) return implicit(7, Buffer.from(name.split(".").map(Number)));
  if (isIPv6(name)) return implicit(7, ipv6Bytes(name));
  return implicit(2, Buffer.from(name, "latin1"));
}

function ipv6Bytes(address: string): Buffer {
  // The URL parser writes an address in its normal form, in which at most one "::" stands for zeros and there are no dots.
  const [left = "", right = ""] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [head, tail] = [left, right].map((part) => part.split(":").filter((word) => word !== ""));
  const words = [...(head ?? []), ...Array<string>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill("0"), ...(tail ?? [])];
  return Buffer.from(words.map((word) => word.padStart(4, "0")).join(""), "hex");
}

function pem(label: string, der: Der): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}
