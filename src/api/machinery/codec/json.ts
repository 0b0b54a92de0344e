/**
 * Parses and serializes JSON bytes. `JSON.parse` does the work; one scan over the bytes decides whether it is safe for this text, and only
 * if not does the exact parser (json-parser.ts) parse it again. So the common body costs one scan more than `JSON.parse`, and yet no digit
 * and no duplicate member is lost, and no recursive code sees a value that is nested too deeply.
 *
 * Bytes that are not UTF-8 become U+FFFD, as upstream. `__proto__` is an ordinary member.
 */
import type { Json } from "../object.ts";
import { DEPTH_MAX, JsonSyntaxError, type NumberLiterals, parseExactly } from "./json-parser.ts";

export interface ParsedJson {
  readonly value: Json;
  /** The paths of duplicate members, in document order. */
  readonly duplicates: readonly string[];
  readonly literals?: NumberLiterals;
}

const NO_DUPLICATES: readonly string[] = [];

// A byte order mark is not JSON: it is kept, so that it is rejected.
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text of a body. */
export function decodeText(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** Throws a JsonSyntaxError. `duplicates: false` skips the search for them; the last one always wins. */
export function parseJson(bytes: Uint8Array, options: { readonly duplicates?: boolean } = {}): ParsedJson {
  const scan = scanJson(bytes);
  const text = decodeText(bytes);
  if (scan.deepest > DEPTH_MAX || scan.isDoubtful) return parseSlowly(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // The exact parser rejects it too, with upstream's message.
    return parseSlowly(text);
  }
  if (options.duplicates === false || countMembers(value) === scan.members) return { value, duplicates: NO_DUPLICATES };
  return parseSlowly(text);
}

function parseSlowly(text: string): ParsedJson {
  const { value, mistakes, literals } = parseExactly(text);
  return { value, duplicates: mistakes.map(({ path }) => path), ...(literals === undefined ? {} : { literals }) };
}

interface Scan {
  /** Number of members of all objects, duplicates included. */
  readonly members: number;
  readonly deepest: number;
  /** `JSON.parse` could lose information. */
  readonly isDoubtful: boolean;
}

/** 2^53 has 16 digits: numbers with fewer are exact. */
const DIGITS_IN_DOUBT = 16;

const QUOTE = 0x22;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;

/** For malformed JSON the results are meaningless, but never too low: `deepest` is at least the depth of its JSON prefix. */
function scanJson(bytes: Uint8Array): Scan {
  const end = bytes.length;
  let members = 0;
  let depth = 0;
  let deepest = 0;
  let isDoubtful = false;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === QUOTE) {
      for (at++; at < end; at++) {
        const inside = bytes[at];
        if (inside === QUOTE) break;
        if (inside === BACKSLASH) {
          at++;
          if (bytes[at] === LETTER_U) isDoubtful ||= isSurrogate(bytes, at + 1);
        }
      }
    } else if (byte === COLON) {
      members++;
    } else if (byte >= ZERO && byte <= NINE) {
      const start = at;
      while (isDigit(bytes[at + 1])) at++;
      isDoubtful ||= at - start + 1 >= DIGITS_IN_DOUBT || isExponent(bytes[at + 1]) || isEndOfFraction(bytes, { start, at });
    } else if (isOpening(byte)) {
      depth++;
      if (depth > deepest) deepest = depth;
    } else if (isClosing(byte)) {
      depth--;
    }
  }
  return { members, deepest, isDoubtful };
}

/** A lone surrogate, "\ud83d": upstream replaces it by U+FFFD. */
function isSurrogate(bytes: Uint8Array, at: number): boolean {
  return (bytes[at] === 0x64 || bytes[at] === 0x44) && !isDigitBelowEight(bytes[at + 1]);
}

function isDigitBelowEight(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte < 0x38;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE;
}

/** "1e999" is out of range. */
function isExponent(byte: number | undefined): boolean {
  return byte === 0x65 || byte === 0x45;
}

/** "1.0" is not canonical: the exact parser keeps its spelling. `start` and `at` are the first and last of some digits. */
function isEndOfFraction(bytes: Uint8Array, { start, at }: { readonly start: number; readonly at: number }): boolean {
  return bytes[at] === ZERO && bytes[start - 1] === POINT;
}

/** `{` and `[` differ in one bit only, as do `}` and `]`. */
function isOpening(byte: number): boolean {
  return (byte & 0xdf) === 0x5b;
}

function isClosing(byte: number): boolean {
  return (byte & 0xdf) === 0x5d;
}

function countMembers(value: Json): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const item: unknown = value[index];
      if (typeof item === "object" && item !== null) count += countMembers(item as Json);
    }
  } else if (typeof value === "object" && value !== null) {
    const object = value as Readonly<Record<string, Json>>;
    for (const key in object) {
      count++;
      const member = object[key];
      if (typeof member === "object" && member !== null) count += countMembers(member);
    }
  }
  return count;
}

/** Like JSON.stringify, with bigints as integers. Undefined members are dropped. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    // There is no cheaper way to detect a bigint than to encounter it.
    if (error instanceof TypeError) return writeSlowly(value);
    throw error;
  }
}

function writeSlowly(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(writeSlowly).join(",")}]`;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${writeSlowly(member)}`).join(",")}}`;
}

/** True if `error` reports malformed JSON. */
export function isJsonSyntaxError(error: unknown): error is JsonSyntaxError {
  return error instanceof JsonSyntaxError;
}
