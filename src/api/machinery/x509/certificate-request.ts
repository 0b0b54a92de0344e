/**
 * Parses certificate signing requests (PKCS #10, RFC 2986) as Go does, with its error messages. Not here: creating one, which needs the
 * private key.
 */
import { NO_ALTERNATIVE_NAMES, readAlternativeNames, SUBJECT_ALTERNATIVE_NAME, type AlternativeNames } from "./alternative-names.ts";
import { Asn1Reader, checkAnyValue, readList, syntaxError } from "./asn1.ts";
import { explicitTag, rightAligned, TAG } from "./der.ts";
import { refuse, X509Error } from "./error.ts";
import { pemBlocks } from "./pem.ts";
import { readPublicKey, type AlgorithmIdentifier, type PublicKey } from "./public-key.ts";
import { signatureProblem } from "./signature.ts";
import { subjectOf, type NamePart, type Subject } from "./subject.ts";

export interface CertificateRequest extends AlternativeNames {
  readonly subject: Subject;
  /** All attributes of its distinguished name, including those of the subject. */
  readonly subjectParts: readonly NamePart[];
  /** Undefined: unknown algorithm. */
  readonly publicKey: PublicKey | undefined;
  /** DER of SubjectPublicKeyInfo, which the certificate will contain. */
  readonly publicKeyInfo: Uint8Array;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
  /** The signed bytes. */
  readonly signed: Uint8Array;
}

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";

/** Parses the first PEM block, which must be a request. Throws X509Error. */
export function parsePemRequest(file: Uint8Array): CertificateRequest {
  for (const { type, bytes } of pemBlocks(file)) {
    if (type === "CERTIFICATE REQUEST") return parseRequest(bytes);
    break;
  }
  return refuse("PEM block type must be CERTIFICATE REQUEST");
}

/** Throws X509Error if it is not signed with its own key. */
export function checkRequestSignature({ publicKey, signatureAlgorithm, signature, signed }: CertificateRequest): void {
  const problem = signatureProblem({ message: signed, signature, algorithm: signatureAlgorithm, publicKey });
  if (problem !== undefined) refuse(problem);
}

export function parseRequest(der: Uint8Array): CertificateRequest {
  const outer = new Asn1Reader(der);
  const request = outer.inside(TAG.sequence, "certificateRequest");
  const { whole: signed, content } = request.expect(TAG.sequence, "tbsCertificateRequest");
  const info = readInfo(content);
  const signatureAlgorithm = readAlgorithm(request);
  const signature = rightAligned(request.bitString());
  if (!outer.isEmpty) syntaxError("trailing data");
  // In Go's order: the whole is parsed before any of its parts.
  const publicKey = readPublicKey(info.keyAlgorithm, info.key);
  const subjectParts = readSubject(info.subject);
  const { publicKeyInfo } = info;
  const subject = subjectOf(subjectParts);
  return { subject, subjectParts, publicKey, publicKeyInfo, signatureAlgorithm, signature, signed, ...readRequestedNames(info.attributes) };
}

function readInfo(content: Uint8Array) {
  const reader = new Asn1Reader(content);
  reader.integer(); // The version; there is one.
  const subject = reader.any().whole;
  const { whole: publicKeyInfo, content: keyContent } = reader.expect(TAG.sequence, "publicKeyInfo");
  const keyInfo = new Asn1Reader(keyContent);
  const keyAlgorithm = readAlgorithm(keyInfo);
  const key = keyInfo.bitString();
  const attributes = readList(reader.expect(explicitTag(0), "").content);
  return { subject, publicKeyInfo, keyAlgorithm, key, attributes: attributes.map(({ whole }) => whole) };
}

function readAlgorithm(parent: Asn1Reader): AlgorithmIdentifier {
  const reader = parent.inside(TAG.sequence, "AlgorithmIdentifier");
  const algorithm = reader.objectIdentifier();
  return { algorithm, parameters: reader.isEmpty ? new Uint8Array(0) : reader.any().whole };
}

function readSubject(der: Uint8Array): readonly NamePart[] {
  const outer = new Asn1Reader(der);
  const { content } = outer.expect(TAG.sequence, "RDNSequence");
  const values = readList(content, TAG.set).flatMap((set) =>
    readList(set.content, TAG.sequence).map((pair) => readAttribute(pair.content)),
  );
  if (!outer.isEmpty) refuse("x509: trailing data after X.509 Subject");
  return values;
}

function readAttribute(content: Uint8Array): NamePart {
  const reader = new Asn1Reader(content);
  return { type: reader.objectIdentifier(), text: checkAnyValue(reader.any()) };
}

/** Unknown and malformed attributes are skipped. */
function readRequestedNames(attributes: readonly Uint8Array[]): AlternativeNames {
  const extensions = attributes.flatMap(readRequestedExtensions);
  if (new Set(extensions.map(({ id }) => id)).size < extensions.length) {
    return refuse("x509: certificate request contains duplicate requested extensions");
  }
  const names = extensions.find(({ id }) => id === SUBJECT_ALTERNATIVE_NAME);
  return names === undefined ? NO_ALTERNATIVE_NAMES : readAlternativeNames(names.value);
}

interface Extension {
  readonly id: string;
  readonly value: Uint8Array;
}

function readRequestedExtensions(attribute: Uint8Array): readonly Extension[] {
  const list = extensionList(attribute);
  if (list === undefined) return [];
  const { content } = new Asn1Reader(list).expect(TAG.sequence, "");
  return readList(content, TAG.sequence).map((extension) => readExtension(extension.content));
}

/** The requested extensions, in a set of one; undefined for another attribute. */
function extensionList(attribute: Uint8Array): Uint8Array | undefined {
  try {
    const reader = new Asn1Reader(attribute).inside(TAG.sequence, "pkcs10Attribute");
    const id = reader.objectIdentifier();
    const [first] = readList(reader.expect(TAG.set, "").content);
    return id === EXTENSION_REQUEST ? first?.whole : undefined;
  } catch (error) {
    if (error instanceof X509Error) return undefined;
    throw error;
  }
}

function readExtension(content: Uint8Array): Extension {
  const reader = new Asn1Reader(content);
  const id = reader.objectIdentifier();
  const critical = reader.optional(TAG.boolean);
  if (critical !== undefined) checkAnyValue(critical);
  return { id, value: reader.expect(TAG.octetString, "").content };
}
