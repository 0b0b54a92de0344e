/**
 * Writes the subject of an issued certificate as Go's package x509 does: of the request's attributes only the usual ones, in a fixed order,
 * all of one type together. So a certificate has the same subject as upstream's.
 */
import { printableOrUtf8String, objectIdentifier, sequence, set } from "./der-writer.ts";
import { COMMON_NAME, ORGANIZATION, type NamePart } from "./subject.ts";

const COUNTRY = "2.5.4.6";
const ORGANIZATIONAL_UNIT = "2.5.4.11";
const LOCALITY = "2.5.4.7";
const PROVINCE = "2.5.4.8";
const STREET_ADDRESS = "2.5.4.9";
const POSTAL_CODE = "2.5.4.17";
const SERIAL_NUMBER = "2.5.4.5";

const ORDER = [
  ...[COUNTRY, PROVINCE, LOCALITY, STREET_ADDRESS, POSTAL_CODE],
  ...[ORGANIZATION, ORGANIZATIONAL_UNIT, COMMON_NAME, SERIAL_NUMBER],
];
/** Of these the last counts, and an empty one is dropped. */
const SINGLE: readonly string[] = [COMMON_NAME, SERIAL_NUMBER];

/** DER. */
export function writeName(parts: readonly NamePart[]): Uint8Array {
  return sequence(...ORDER.flatMap((type) => statementsOf(type, parts)));
}

function statementsOf(type: string, parts: readonly NamePart[]): readonly Uint8Array[] {
  const texts = parts.flatMap((part) => (part.type === type && part.text !== undefined ? [part.text] : []));
  const said = SINGLE.includes(type) ? texts.slice(-1).filter((text) => text !== "") : texts;
  if (said.length === 0) return [];
  const statements = said.map((text) => sequence(objectIdentifier(type), printableOrUtf8String(text)));
  // DER sorts the members of a set by their bytes.
  return [set(...statements.toSorted(compareBytes))];
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const at = left.findIndex((byte, index) => byte !== right[index]);
  return at < 0 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}
