/**
 * Parses certificates (X.509, RFC 5280) as Go does, with its error messages. Not here: trust (the caller), writing (certificate-writer.ts).
 */
import { NO_ALTERNATIVE_NAMES, readAlternativeNames, SUBJECT_ALTERNATIVE_NAME, type AlternativeNames } from "./alternative-names.ts";
import { DerReader, explicitTag, implicitTag, rightAligned, TAG } from "./der.ts";
import { refuse } from "./error.ts";
import { checkExtension, EXTENSION, readers, type KeyUsage } from "./extensions.ts";
import { pemBlocks } from "./pem.ts";
import { readPublicKey, type AlgorithmIdentifier, type PublicKey } from "./public-key.ts";
import { signatureProblem } from "./signature.ts";
import { readText } from "./strings.ts";
import { subjectOf, type NamePart, type Subject } from "./subject.ts";
import { readValidity, type Validity } from "./validity.ts";

export interface Certificate extends AlternativeNames, Validity {
  readonly serialNumber: bigint;
  readonly issuer: Name;
  readonly subject: Name;
  /** Undefined: unknown algorithm. */
  readonly publicKey: PublicKey | undefined;
  /** DER of SubjectPublicKeyInfo. */
  readonly publicKeyInfo: Uint8Array;
  /** True for a certificate authority. */
  readonly isAuthority: boolean;
  /** Key usages. Undefined: all. */
  readonly keyUsages?: readonly KeyUsage[];
  /** Object identifiers. Undefined: all. */
  readonly extendedKeyUsages?: readonly string[];
  /** Subject key identifier, by which issued certificates reference it. */
  readonly subjectKeyIdentifier?: Uint8Array;
  readonly authorityKeyIdentifier?: Uint8Array;
  /** Object identifiers of critical extensions that are not understood: verification must fail. */
  readonly unhandledCriticalExtensions: readonly string[];
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
  /** The signed bytes. */
  readonly signed: Uint8Array;
}

export interface Name extends Subject {
  /** All attributes, including those of the subject. */
  readonly parts: readonly NamePart[];
  /** The whole element: names are equal if their bytes are. */
  readonly der: Uint8Array;
}

/** Parses concatenated certificates. Throws X509Error. */
export function parseCertificates(der: Uint8Array): readonly Certificate[] {
  const certificates: Certificate[] = [];
  for (const reader = new DerReader(der); !reader.isEmpty;) {
    certificates.push(readCertificate(reader.inside(TAG.sequence) ?? refuse("x509: malformed certificate")));
  }
  return certificates;
}

/** Parses the certificates of a PEM text, skipping other blocks; empty if none exists. Throws X509Error. */
export function parsePemCertificates(pem: string): readonly Certificate[] {
  const certificates: Certificate[] = [];
  for (const { type, bytes } of pemBlocks(new TextEncoder().encode(pem))) {
    if (type === "CERTIFICATE") certificates.push(...parseCertificates(bytes));
  }
  return certificates;
}

/** Returns the number of certificates. Throws X509Error. */
export function checkCertificates(der: Uint8Array): number {
  return parseCertificates(der).length;
}

/** True if it has the issuer's name and signature. The caller checks whether the issuer is a certificate authority. */
export function isSignedBy(certificate: Certificate, { subject, publicKey }: Certificate): boolean {
  const { signed: message, signature, signatureAlgorithm: algorithm } = certificate;
  return isSame(certificate.issuer.der, subject.der) && signatureProblem({ message, signature, algorithm, publicKey }) === undefined;
}

function readCertificate(certificate: DerReader): Certificate {
  const { whole: signed, content: inside } = certificate.element(TAG.sequence) ?? refuse("x509: malformed tbs certificate");
  const content = new DerReader(inside);
  const version = readVersion(content);
  const serialNumber = content.integer() ?? refuse("x509: malformed serial number");
  if (serialNumber < 0n) refuse("x509: negative serial number");
  const inner = content.content(TAG.sequence) ?? refuse("x509: malformed signature algorithm identifier");
  const outer = certificate.content(TAG.sequence) ?? refuse("x509: malformed algorithm identifier");
  if (!isSame(inner, outer)) refuse("x509: inner and outer signature algorithm identifiers don't match");
  const signatureAlgorithm = readAlgorithm(inner);
  const issuer = readName(content);
  const validity = readValidity(content.inside(TAG.sequence) ?? refuse("x509: malformed validity"));
  const subject = readName(content);
  const key = content.element(TAG.sequence) ?? refuse("x509: malformed spki");
  const publicKey = readKey(new DerReader(key.content));
  const extensions = readTail(content, version);
  const signature = rightAligned(certificate.bitString() ?? refuse("x509: malformed signature"));
  const read = { serialNumber, issuer, subject, ...validity, publicKey, publicKeyInfo: key.whole, ...extensions };
  return { ...read, signatureAlgorithm, signature, signed };
}

/** From 1 on. */
function readVersion(content: DerReader): number {
  if (!content.isNext(explicitTag(0))) return 1;
  const reader = content.inside(explicitTag(0));
  const version = reader?.integer();
  if (version === undefined || reader?.isEmpty !== true || version < 0n || version >= 2n ** 63n) return refuse("x509: malformed version");
  return version > 2n ? refuse("x509: invalid version") : Number(version) + 1;
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}

function readAlgorithm(content: Uint8Array): AlgorithmIdentifier {
  const reader = new DerReader(content);
  const algorithm = reader.objectIdentifier() ?? refuse("x509: malformed OID");
  if (reader.isEmpty) return { algorithm, parameters: new Uint8Array(0) };
  return { algorithm, parameters: (reader.any() ?? refuse("x509: malformed parameters")).whole };
}

/** Go uses the same word for both names. */
function readName(content: DerReader): Name {
  const { whole: der, content: inside } = content.element(TAG.sequence) ?? refuse("x509: malformed issuer");
  const parts: NamePart[] = [];
  for (const name = new DerReader(inside); !name.isEmpty;) {
    const set = name.inside(TAG.set) ?? refuse("x509: invalid RDNSequence");
    while (!set.isEmpty) parts.push(readNamePart(set.inside(TAG.sequence) ?? refuse("x509: invalid RDNSequence: invalid attribute")));
  }
  return { ...subjectOf(parts), parts, der };
}

const TEXTS: ReadonlyMap<number, string> = new Map([
  [TAG.printableString, "invalid PrintableString"],
  [TAG.utf8String, "invalid UTF-8 string"],
  [TAG.bmpString, "invalid BMPString"],
  [TAG.ia5String, "invalid IA5String"],
  [TAG.numericString, "invalid NumericString"],
  [TAG.t61String, ""],
]);

function readNamePart(part: DerReader): NamePart {
  const type = part.objectIdentifier() ?? refuse("x509: invalid RDNSequence: invalid attribute type");
  const { tag, content } = part.any() ?? refuse("x509: invalid RDNSequence: invalid attribute value");
  const complaint = TEXTS.get(tag) ?? `unsupported string type: ${tag}`;
  return { type, text: readText(tag, content) ?? refuse(`x509: invalid RDNSequence: invalid attribute value: ${complaint}`) };
}

function readKey(info: DerReader): PublicKey | undefined {
  const algorithm = readAlgorithm(info.content(TAG.sequence) ?? refuse("x509: malformed public key algorithm identifier"));
  return readPublicKey(algorithm, info.bitString() ?? refuse("x509: malformed subjectPublicKey"));
}

type Extensions = AlternativeNames &
  Pick<
    Certificate,
    "isAuthority" | "keyUsages" | "extendedKeyUsages" | "subjectKeyIdentifier" | "authorityKeyIdentifier" | "unhandledCriticalExtensions"
  >;

const NO_EXTENSIONS: Extensions = { ...NO_ALTERNATIVE_NAMES, isAuthority: false, unhandledCriticalExtensions: [] };

/** Parts of later versions: obsolete identifiers of issuer and subject, and extensions. */
function readTail(content: DerReader, version: number): Extensions {
  if (version < 2) return NO_EXTENSIONS;
  if (content.isNext(implicitTag(1)) && content.any() === undefined) refuse("x509: malformed issuerUniqueID");
  if (content.isNext(implicitTag(2)) && content.any() === undefined) refuse("x509: malformed subjectUniqueID");
  if (version < 3 || !content.isNext(explicitTag(3))) return NO_EXTENSIONS;
  const list = content.inside(explicitTag(3))?.inside(TAG.sequence) ?? refuse("x509: malformed extensions");
  const found = new Map<string, { readonly value: Uint8Array; readonly critical: boolean }>();
  while (!list.isEmpty) {
    const { id, ...extension } = readExtension(list.inside(TAG.sequence) ?? refuse("x509: malformed extension"));
    if (found.has(id)) refuse(`x509: certificate contains duplicate extension with OID "${id}"`);
    found.set(id, extension);
  }
  let extensions = NO_EXTENSIONS;
  const unhandledCriticalExtensions: string[] = [];
  for (const [id, { value, critical }] of found) {
    const known = readKnown(id, value, critical);
    if (known === undefined && critical) unhandledCriticalExtensions.push(id);
    extensions = { ...extensions, ...known };
  }
  return { ...extensions, unhandledCriticalExtensions };
}

/** The members that an extension sets; for unused ones only the form is validated. Undefined: it is not understood. */
function readKnown(id: string, bytes: Uint8Array, critical: boolean): Partial<Extensions> | undefined {
  const value = new DerReader(bytes);
  switch (id) {
    case SUBJECT_ALTERNATIVE_NAME: {
      const names = readAlternativeNames(bytes);
      return Object.values(names).some(({ length }) => length > 0) ? names : undefined;
    }
    case EXTENSION.basicConstraints:
      return { isAuthority: readers.isAuthority(value) };
    case EXTENSION.keyUsage:
      return { keyUsages: readers.keyUsages(value) };
    case EXTENSION.extendedKeyUsage:
      return { extendedKeyUsages: readers.extendedKeyUsages(value) };
    case EXTENSION.subjectKeyIdentifier:
      return { subjectKeyIdentifier: readers.subjectKeyIdentifier(value, { critical }) };
    case EXTENSION.authorityKeyIdentifier: {
      const authorityKeyIdentifier = readers.authorityKeyIdentifier(value, { critical });
      return authorityKeyIdentifier === undefined ? {} : { authorityKeyIdentifier };
    }
    default:
      return checkExtension(id, value, { critical }) ? {} : undefined;
  }
}

function readExtension(reader: DerReader) {
  const id = reader.objectIdentifier() ?? refuse("x509: malformed extension OID field");
  const critical = reader.isNext(TAG.boolean) ? (reader.boolean() ?? refuse("x509: malformed extension critical field")) : false;
  return { id, critical, value: reader.content(TAG.octetString) ?? refuse("x509: malformed extension value field") };
}
