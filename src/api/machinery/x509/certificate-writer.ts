/**
 * Writes and signs certificates (X.509, RFC 5280). Issuer, times and serial number are parameters, so that equal arguments give equal bytes
 * if the signer is deterministic. Only the public half of the key is needed.
 */
import type { SignatureAlgorithm, Signer } from "../../../base/crypto/signing.ts";
import { sha256 } from "../../../base/crypto/hash.ts";
import { SUBJECT_ALTERNATIVE_NAME, type AlternativeNames } from "./alternative-names.ts";
import type { Certificate } from "./certificate.ts";
import {
  asUtf8,
  bitString,
  boolean,
  explicit,
  implicit,
  objectIdentifier,
  octetString,
  sequence,
  set,
  time,
  unsignedInteger,
  utf8String,
} from "./der-writer.ts";
import { EXTENSION, KEY_USAGES, type KeyUsage } from "./extensions.ts";
import { COMMON_NAME, ORGANIZATION, type Subject } from "./subject.ts";
import type { Validity } from "./validity.ts";

export interface CertificateContent {
  /** Or DER of a whole name (name-writer.ts), if there is more than a subject. */
  readonly subject: Subject | Uint8Array;
  /** DER of SubjectPublicKeyInfo. */
  readonly publicKey: Uint8Array;
  readonly validity: Validity;
  /** Serial number: at least 1, big endian, at most 20 bytes; unique per issuer. */
  readonly serialNumber: Uint8Array;
  readonly alternativeNames?: Partial<AlternativeNames>;
  /** True for a certificate authority. */
  readonly isAuthority?: boolean;
  /** Key usages. Empty: all. */
  readonly keyUsages: readonly KeyUsage[];
  /** Object identifiers, as those of PURPOSE; empty: all. */
  readonly extendedKeyUsages?: readonly string[];
  /** Without a subject key identifier, which only its issued certificates would reference. */
  readonly hasNoKeyIdentifier?: true;
  /** DER of additional extensions. */
  readonly otherExtensions?: readonly Uint8Array[];
}

/** The issuer. */
export interface Issuer {
  /** DER of its name. */
  readonly name: Uint8Array;
  /** Undefined: its certificate has none. */
  readonly keyIdentifier: Uint8Array | undefined;
  readonly signer: Signer;
}

/** `signer` must have the private key of the issuer's certificate. */
export function issuerOf({ subject, subjectKeyIdentifier }: Certificate, signer: Signer): Issuer {
  return { name: subject.der, keyIdentifier: subjectKeyIdentifier, signer };
}

/** For a self-signed certificate. */
export function selfIssuer(subject: Subject, signer: Signer): Issuer {
  return { name: nameOf(subject), keyIdentifier: keyIdentifierOf(signer.publicKey), signer };
}

/** DER. */
export function writeCertificate(content: CertificateContent, { name, keyIdentifier, signer }: Issuer): Uint8Array {
  const { subject, publicKey, validity, serialNumber } = content;
  const algorithm = algorithmOf(signer);
  const signed = sequence(
    VERSION_3,
    unsignedInteger(serialNumber),
    algorithm,
    name,
    sequence(time(validity.fromMs), time(validity.toMs)),
    subject instanceof Uint8Array ? subject : nameOf(subject),
    publicKey,
    explicit(3, sequence(...extensionsOf(content, keyIdentifier))),
  );
  return sequence(signed, algorithm, bitString(signatureOf(signer, signed)));
}

/** Version 3, with extensions. */
const VERSION_3 = explicit(0, unsignedInteger(Uint8Array.of(2)));

const ALGORITHMS: Readonly<Partial<Record<SignatureAlgorithm, Uint8Array>>> = {
  ES256: sequence(objectIdentifier("1.2.840.10045.4.3.2")),
  ES384: sequence(objectIdentifier("1.2.840.10045.4.3.3")),
  ES512: sequence(objectIdentifier("1.2.840.10045.4.3.4")),
  EdDSA: sequence(objectIdentifier("1.3.101.112")),
  // RSA algorithms have a NULL parameter.
  RS256: sequence(objectIdentifier("1.2.840.113549.1.1.11"), [5, 0]),
  RS384: sequence(objectIdentifier("1.2.840.113549.1.1.12"), [5, 0]),
  RS512: sequence(objectIdentifier("1.2.840.113549.1.1.13"), [5, 0]),
};

export function algorithmOf({ algorithm }: Signer): Uint8Array {
  const found = ALGORITHMS[algorithm];
  if (found === undefined)
    throw new RangeError(`Cannot sign a certificate with ${algorithm}: use EdDSA, ES256, ES384, ES512, RS256, RS384 or RS512`);
  return found;
}

/** Certificates hold the two integers of an ECDSA signature as a sequence. */
export function signatureOf(signer: Signer, message: Uint8Array): Uint8Array {
  const signature = signer.sign(message);
  if (!signer.algorithm.startsWith("ES")) return signature;
  const half = signature.length / 2;
  return sequence(unsignedInteger(signature.subarray(0, half)), unsignedInteger(signature.subarray(half)));
}

/** In the order in which Go writes them. */
function extensionsOf(content: CertificateContent, issuerKeyIdentifier: Uint8Array | undefined): readonly Uint8Array[] {
  const { subject, publicKey, isAuthority = false, keyUsages, extendedKeyUsages = [], hasNoKeyIdentifier, otherExtensions = [] } = content;
  const names = namesOf(content.alternativeNames ?? {});
  return [
    ...(keyUsages.length === 0 ? [] : [extension(EXTENSION.keyUsage, bitsOf(keyUsages), { critical: true })]),
    ...(extendedKeyUsages.length === 0
      ? []
      : [extension(EXTENSION.extendedKeyUsage, sequence(...extendedKeyUsages.map(objectIdentifier)))]),
    extension(EXTENSION.basicConstraints, sequence(...(isAuthority ? [boolean(true)] : [])), { critical: true }),
    ...(hasNoKeyIdentifier === true ? [] : [extension(EXTENSION.subjectKeyIdentifier, octetString(keyIdentifierOf(publicKey)))]),
    ...(issuerKeyIdentifier === undefined ? [] : [extension(EXTENSION.authorityKeyIdentifier, sequence(implicit(0, issuerKeyIdentifier)))]),
    ...(names.length === 0 ? [] : [extension(SUBJECT_ALTERNATIVE_NAME, sequence(...names), { critical: isEmptyName(subject) })]),
    ...otherExtensions,
  ];
}

export function extension(identifier: string, value: Uint8Array, { critical = false }: { readonly critical?: boolean } = {}): Uint8Array {
  return sequence(objectIdentifier(identifier), ...(critical ? [boolean(true)] : []), octetString(value));
}

/** Without a subject the alternative names are critical (RFC 5280, section 4.2.1.6). */
function isEmptyName(subject: Subject | Uint8Array): boolean {
  return subject instanceof Uint8Array && subject.length === EMPTY_NAME_BYTES;
}

/** A type and a length of zero. */
const EMPTY_NAME_BYTES = 2;

/** Trailing zero bits are omitted. */
function bitsOf(usages: readonly KeyUsage[]): Uint8Array {
  const bits = KEY_USAGES.map((usage) => (usages.includes(usage) ? "1" : "0")).join("");
  const used = bits.slice(0, bits.lastIndexOf("1") + 1);
  const bytes = Array.from({ length: Math.ceil(used.length / 8) }, (_, at) =>
    Number.parseInt(used.slice(at * 8, at * 8 + 8).padEnd(8, "0"), 2),
  );
  return bitString(bytes, bytes.length * 8 - used.length);
}

export function nameOf({ commonName, organizations }: Subject): Uint8Array {
  const part = (type: string, text: string) => set(sequence(objectIdentifier(type), utf8String(text)));
  return sequence(...organizations.map((one) => part(ORGANIZATION, one)), part(COMMON_NAME, commonName));
}

export function namesOf({
  dnsNames = [],
  emailAddresses = [],
  ipAddresses = [],
  uris = [],
}: Partial<AlternativeNames>): readonly Uint8Array[] {
  return [
    ...dnsNames.map((name) => implicit(2, asUtf8(name))),
    ...emailAddresses.map((address) => implicit(1, asUtf8(address))),
    ...ipAddresses.map((address) => implicit(7, address)),
    ...uris.map((uri) => implicit(6, asUtf8(uri))),
  ];
}

const KEY_IDENTIFIER_BYTES = 20;

/** Any value that differs from key to key is valid. */
function keyIdentifierOf(publicKey: Uint8Array): Uint8Array {
  return sha256(publicKey).subarray(0, KEY_IDENTIFIER_BYTES);
}
