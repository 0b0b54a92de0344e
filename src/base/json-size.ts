/**
 * How many bytes `JSON.stringify(value)` would take in UTF-8, exactly, without making the text. For limits and counters that
 * must know a size where the bytes themselves are not needed (the memory store never serialises).
 *
 * For plain JSON values, in which a member may be undefined (it is left out, as JSON does). `toJSON` is not asked, so a Date, a
 * Map or an instance of a class is counted by its members, which is wrong: hand over what JSON.parse could have made.
 */
import { assert } from "./assert.ts";

export function jsonByteLength(value: unknown): number {
  switch (typeof value) {
    case "string":
      return stringByteLength(value);
    case "number":
      return numberByteLength(value);
    case "boolean":
      return value ? 4 : 5;
    case "bigint":
      return value.toString().length; // As a writer that keeps all digits prints it; JSON.stringify refuses.
    case "object":
      if (value === null) return 4;
      return Array.isArray(value) ? arrayByteLength(value) : objectByteLength(value as Readonly<Record<string, unknown>>);
    default:
      assert(false, `JSON has no form for a ${typeof value}`);
  }
}

/** The brackets, the items, and a comma between each two. */
function arrayByteLength(array: readonly unknown[]): number {
  let length = 2 + Math.max(0, array.length - 1);
  // In a list, what is undefined is printed as null.
  for (const item of array) length += item === undefined ? 4 : jsonByteLength(item);
  return length;
}

/** The braces, the members with a colon each, and a comma between each two. */
function objectByteLength(object: Readonly<Record<string, unknown>>): number {
  let length = 2;
  let members = 0;
  for (const key of Object.keys(object)) {
    const member = object[key];
    if (member === undefined) continue;
    length += stringByteLength(key) + 1 + jsonByteLength(member);
    members++;
  }
  return length + Math.max(0, members - 1);
}

function numberByteLength(number: number): number {
  if (!Number.isFinite(number)) return 4; // Printed as null.
  // Most numbers are small: ports, counts, generations.
  if (Number.isInteger(number) && number >= 0 && number < 100_000) return digits(number);
  return String(number).length;
}

function digits(number: number): number {
  if (number < 10) return 1;
  if (number < 100) return 2;
  if (number < 1_000) return 3;
  return number < 10_000 ? 4 : 5;
}

/** The quotes and what is between them. Nearly every text is ASCII, so that comes first, by table. */
function stringByteLength(text: string): number {
  let length = text.length + 2;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return length + extraBytesFrom(text, index);
    length += ASCII_EXTRA_BYTES[unit] as number;
  }
  return length;
}

/** How many bytes an ASCII character takes beyond one: \" and \n one, \u001f five. */
const ASCII_EXTRA_BYTES = Uint8Array.from({ length: 0x80 }, (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 3);

/** How many bytes the rest of a text takes beyond one for each UTF-16 unit. */
function extraBytesFrom(text: string, start: number): number {
  let extra = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      extra += ASCII_EXTRA_BYTES[unit] as number;
    } else if (unit < 0x800) {
      extra += 1;
    } else if (!isSurrogate(unit)) {
      extra += 2;
    } else if (isPair(unit, text.charCodeAt(index + 1))) {
      // Two units become four bytes.
      extra += 2;
      index++;
    } else {
      // A half of a pair on its own is escaped: \ud800.
      extra += 5;
    }
  }
  return extra;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function isPair(high: number, low: number): boolean {
  // NaN, after the last unit, is in no range.
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
