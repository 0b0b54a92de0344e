/**
 * The exact size in bytes (UTF-8) of `JSON.stringify(value)`, without building the text. For limits and counters that need a size where the
 * bytes themselves are not needed (the memory store never serialises).
 *
 * For plain JSON values, in which a member may be undefined (omitted, as in JSON). `toJSON` is ignored, so that a Date, a Map or a class
 * instance gives a wrong size: pass only what JSON.parse could return.
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
      return value.toString().length; // As a lossless encoder prints it; JSON.stringify throws.
    case "object":
      if (value === null) return 4;
      return Array.isArray(value) ? arrayByteLength(value) : objectByteLength(value as Readonly<Record<string, unknown>>);
    default:
      assert(false, `JSON has no form for a ${typeof value}`);
  }
}

/** Brackets, items, and a comma between each two. */
function arrayByteLength(array: readonly unknown[]): number {
  let length = 2 + Math.max(0, array.length - 1);
  // An undefined array item is printed as null.
  for (const item of array) length += item === undefined ? 4 : jsonByteLength(item);
  return length;
}

/** Braces, members with a colon each, and a comma between each two. */
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
  // Fast path: most numbers are small (ports, counts, generations).
  if (Number.isInteger(number) && number >= 0 && number < 100_000) return digits(number);
  return String(number).length;
}

function digits(number: number): number {
  if (number < 10) return 1;
  if (number < 100) return 2;
  if (number < 1_000) return 3;
  return number < 10_000 ? 4 : 5;
}

/** Quotes and content. Nearly every string is ASCII, so that is tried first, by table. */
function stringByteLength(text: string): number {
  let length = text.length + 2;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return length + extraBytesFrom(text, index);
    length += ASCII_EXTRA_BYTES[unit] as number;
  }
  return length;
}

/** Extra bytes of an ASCII character beyond one: 1 for \" and \n, 5 for \u001f. */
const ASCII_EXTRA_BYTES = Uint8Array.from({ length: 0x80 }, (_, unit) => JSON.stringify(String.fromCharCode(unit)).length - 3);

/** Extra bytes of the rest of a string beyond one per UTF-16 unit. */
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
      // A lone surrogate is escaped: \ud800.
      extra += 5;
    }
  }
  return extra;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

function isPair(high: number, low: number): boolean {
  // NaN, returned after the last unit, is in no range.
  return high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}
