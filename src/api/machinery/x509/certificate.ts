/**
 * Certificates (X.509, RFC 5280), looked over as Go's parser does: what it refuses is refused in its words. Nothing is made of them here;
 * whoever stores a certificate is told whether it is one.
 */
import { readAlternativeNames, SUBJECT_ALTERNATIVE_NAME } from "./alternative-names.ts";
import { DerReader, explicitTag, implicitTag, TAG } from "./der.ts";
import { refuse } from "./error.ts";
import { checkExtension } from "./extensions.ts";
import { readPublicKey, type AlgorithmIdentifier } from "./public-key.ts";
import { readText } from "./strings.ts";

/** One certificate after the other, without anything between them. Throws X509Error; gives how many there are. */
export function checkCertificates(der: Uint8Array): number {
  let count = 0;
  for (const reader = new DerReader(der); !reader.isEmpty; count++) {
    checkCertificate(reader.inside(TAG.sequence) ?? refuse("x509: malformed certificate"));
  }
  return count;
}

function checkCertificate(certificate: DerReader): void {
  const content = certificate.inside(TAG.sequence) ?? refuse("x509: malformed tbs certificate");
  const version = readVersion(content);
  const serial = content.integer() ?? refuse("x509: malformed serial number");
  if (serial < 0n) refuse("x509: negative serial number");
  const inner = content.content(TAG.sequence) ?? refuse("x509: malformed signature algorithm identifier");
  const outer = certificate.content(TAG.sequence) ?? refuse("x509: malformed algorithm identifier");
  if (!isSame(inner, outer)) refuse("x509: inner and outer signature algorithm identifiers don't match");
  readAlgorithm(inner);
  checkName(content);
  checkValidity(content.inside(TAG.sequence) ?? refuse("x509: malformed validity"));
  checkName(content);
  checkPublicKey(content.inside(TAG.sequence) ?? refuse("x509: malformed spki"));
  checkTail(content, version);
  if (certificate.bitString() === undefined) refuse("x509: malformed signature");
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

/** Go has the same word for both names. */
function checkName(content: DerReader): void {
  const name = content.inside(TAG.sequence) ?? refuse("x509: malformed issuer");
  while (!name.isEmpty) {
    const set = name.inside(TAG.set) ?? refuse("x509: invalid RDNSequence");
    while (!set.isEmpty) checkNamePart(set.inside(TAG.sequence) ?? refuse("x509: invalid RDNSequence: invalid attribute"));
  }
}

const TEXTS: ReadonlyMap<number, string> = new Map([
  [TAG.printableString, "invalid PrintableString"],
  [TAG.utf8String, "invalid UTF-8 string"],
  [TAG.bmpString, "invalid BMPString"],
  [TAG.ia5String, "invalid IA5String"],
  [TAG.numericString, "invalid NumericString"],
  [TAG.t61String, ""],
]);

function checkNamePart(part: DerReader): void {
  if (part.objectIdentifier() === undefined) refuse("x509: invalid RDNSequence: invalid attribute type");
  const { tag, content } = part.any() ?? refuse("x509: invalid RDNSequence: invalid attribute value");
  const complaint = TEXTS.get(tag) ?? `unsupported string type: ${tag}`;
  if (readText(tag, content) === undefined) refuse(`x509: invalid RDNSequence: invalid attribute value: ${complaint}`);
}

function checkValidity(validity: DerReader): void {
  for (let index = 0; index < 2; index++) {
    const [tag, name, yearDigits] = validity.isNext(TAG.utcTime)
      ? ([TAG.utcTime, "UTCTime", 2] as const)
      : validity.isNext(TAG.generalizedTime)
        ? ([TAG.generalizedTime, "GeneralizedTime", 4] as const)
        : refuse("x509: unsupported time format");
    const content = validity.content(tag);
    if (content === undefined || !isTime(content, yearDigits)) refuse(`x509: malformed ${name}`);
  }
}

/** Digits from the year to the second, which only the short form may leave out, and "Z" or how far from it. */
function isTime(content: Uint8Array, yearDigits: 2 | 4): boolean {
  const text = String.fromCharCode(...content.subarray(0, 40));
  const seconds = yearDigits === 2 ? "(\\d\\d)?" : "(\\d\\d)";
  const match = new RegExp(`^(\\d{${yearDigits}})(\\d\\d)(\\d\\d)(\\d\\d)(\\d\\d)${seconds}(Z|[+-]\\d{4})$`).exec(text);
  if (match === null || /^[+-]0000$/.test(match[7] ?? "")) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
  const [zoneHours, zoneMinutes] = [Number(match[7]?.slice(1, 3) || 0), Number(match[7]?.slice(3) || 0)];
  const date = new Date(0);
  date.setUTCFullYear(yearDigits === 4 ? year : year < 69 ? 2000 + year : 1900 + year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay && hour < 24 && minute < 60 && second < 60 && zoneHours <= 24 && zoneMinutes <= 60;
}

function checkPublicKey(info: DerReader): void {
  const algorithm = readAlgorithm(info.content(TAG.sequence) ?? refuse("x509: malformed public key algorithm identifier"));
  readPublicKey(algorithm, info.bitString() ?? refuse("x509: malformed subjectPublicKey"));
}

/** What came with later versions: identifiers of issuer and subject that nobody uses, and extensions. */
function checkTail(content: DerReader, version: number): void {
  if (version < 2) return;
  if (content.isNext(implicitTag(1)) && content.any() === undefined) refuse("x509: malformed issuerUniqueID");
  if (content.isNext(implicitTag(2)) && content.any() === undefined) refuse("x509: malformed subjectUniqueID");
  if (version < 3 || !content.isNext(explicitTag(3))) return;
  const list = content.inside(explicitTag(3))?.inside(TAG.sequence) ?? refuse("x509: malformed extensions");
  const extensions = new Map<string, { readonly value: Uint8Array; readonly critical: boolean }>();
  while (!list.isEmpty) {
    const { id, ...extension } = readExtension(list.inside(TAG.sequence) ?? refuse("x509: malformed extension"));
    if (extensions.has(id)) refuse(`x509: certificate contains duplicate extension with OID "${id}"`);
    extensions.set(id, extension);
  }
  for (const [id, { value, critical }] of extensions) {
    if (id === SUBJECT_ALTERNATIVE_NAME) readAlternativeNames(value);
    else checkExtension(id, value, { critical });
  }
}

function readExtension(reader: DerReader) {
  const id = reader.objectIdentifier() ?? refuse("x509: malformed extension OID field");
  const critical = reader.isNext(TAG.boolean) ? (reader.boolean() ?? refuse("x509: malformed extension critical field")) : false;
  return { id, critical, value: reader.content(TAG.octetString) ?? refuse("x509: malformed extension value field") };
}
