/**
 * Parses DER as Go's encoding/asn1 unmarshals it into structs, for certificate requests: clients see its error messages, which name Go
 * types. Certificates themselves are parsed by another package of Go, with messages of its own: der.ts.
 */
import { isMinimalInteger, readBitString, readInteger, TAG, type BitString } from "./der.ts";
import { refuse } from "./error.ts";
import { readText } from "./strings.ts";

interface Header {
  readonly class: number;
  readonly tag: number;
  readonly length: number;
  readonly isCompound: boolean;
  /** Offset of the content. */
  readonly start: number;
}

export interface Asn1Element {
  /** Class and number of its type, as in the first byte. */
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

const COMPOUND = 0x20;
const NUMBER_BITS = 0x1f;

export function syntaxError(what: string): never {
  return refuse(`asn1: syntax error: ${what}`);
}

export function structureError(what: string): never {
  return refuse(`asn1: structure error: ${what}`);
}

/** Reads the members of one structure in order. */
export class Asn1Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** The next one, of any type. */
  any(): Asn1Element {
    return this.#element(this.#header());
  }

  /** The next one, which must be of this type. `goType` is the Go type it is decoded into. */
  expect(tag: number, goType: string): Asn1Element {
    const header = this.#header();
    if (tagOf(header) !== tag)
      return structureError(`tags don't match (${tag & NUMBER_BITS} vs ${describe(header)}) ${PARAMETERS} ${goType} @${header.start}`);
    return this.#element(header);
  }

  /** The next one if it is of this type. */
  optional(tag: number): Asn1Element | undefined {
    if (this.isEmpty) return undefined;
    const header = this.#header();
    return tagOf(header) === tag ? this.#element(header) : undefined;
  }

  inside(tag: number, goType: string): Asn1Reader {
    return new Asn1Reader(this.expect(tag, goType).content);
  }

  objectIdentifier(): string {
    return readIdentifier(this.expect(TAG.objectIdentifier, "ObjectIdentifier").content);
  }

  bitString(): BitString {
    return bitStringOf(this.expect(TAG.bitString, "BitString").content);
  }

  /** An int64. */
  integer(): bigint {
    return integerOf(this.expect(TAG.integer, "int").content);
  }

  #header(): Header {
    if (this.isEmpty) return syntaxError("sequence truncated");
    return readHeader(this.#bytes, this.#at);
  }

  #element(header: Header): Asn1Element {
    const end = header.start + header.length;
    if (end > this.#bytes.length) return syntaxError("data truncated");
    const element = {
      tag: tagOf(header),
      content: this.#bytes.subarray(header.start, end),
      whole: this.#bytes.subarray(this.#at, end),
    };
    this.#at = end;
    return element;
  }
}

/** The members of a list. With `tag`, all must be of that type. */
export function readList(content: Uint8Array, tag?: number): readonly Asn1Element[] {
  const elements: Asn1Element[] = [];
  for (let at = 0; at < content.length;) {
    const header = readHeader(content, at);
    if (tag !== undefined && tagOf(header) !== tag) return structureError("sequence tag mismatch");
    const end = header.start + header.length;
    if (end > content.length) return syntaxError("truncated sequence");
    elements.push({ tag: tagOf(header), content: content.subarray(header.start, end), whole: content.subarray(at, end) });
    at = end;
  }
  return elements;
}

/** Go's format of a member without options. */
const PARAMETERS =
  "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 set:false omitEmpty:false}";

function describe({ class: tagClass, tag, length, isCompound }: Header): string {
  return `{class:${tagClass} tag:${tag} length:${length} isCompound:${isCompound}}`;
}

/** As a first byte; a number that does not fit into one matches no other. */
function tagOf({ class: tagClass, tag, isCompound }: Header): number {
  return tag > NUMBER_BITS ? -1 : (tagClass << 6) | (isCompound ? COMPOUND : 0) | tag;
}

function readHeader(bytes: Uint8Array, from: number): Header {
  const first = bytes[from] ?? 0;
  const number = (first & NUMBER_BITS) === NUMBER_BITS ? readNumber(bytes, from + 1) : { value: first & NUMBER_BITS, next: from + 1 };
  if (number.next > from + 1 && number.value < NUMBER_BITS) return syntaxError("non-minimal tag");
  const { length, next } = readLength(bytes, number.next);
  return { class: first >> 6, tag: number.value, length, isCompound: (first & COMPOUND) !== 0, start: next };
}

/** Lengths from here on are rejected: no content is as long. */
const LENGTH_MAX = 2 ** 23;

function readLength(bytes: Uint8Array, from: number): { readonly length: number; readonly next: number } {
  const first = bytes[from] ?? syntaxError("truncated tag or length");
  if (first < 0x80) return { length: first, next: from + 1 };
  if (first === 0x80) return syntaxError("indefinite length found (not DER)");
  const next = from + 1 + (first & 0x7f);
  let length = 0;
  for (let at = from + 1; at < next; at++) {
    const byte = bytes[at] ?? syntaxError("truncated tag or length");
    if (length >= LENGTH_MAX) return structureError("length too large");
    length = length * 256 + byte;
    if (length === 0) return structureError("superfluous leading zeros in length");
  }
  return length < 0x80 ? structureError("non-minimal length") : { length, next };
}

/** Seven bits a byte. */
function readNumber(bytes: Uint8Array, from: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (at === from + 5) return structureError("base 128 integer too large");
    if (at === from && byte === 0x80) return syntaxError("integer is not minimally encoded");
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    return value >= 2 ** 31 ? structureError("base 128 integer too large") : { value, next: at + 1 };
  }
  return syntaxError("truncated base 128 integer");
}

function readIdentifier(content: Uint8Array): string {
  if (content.length === 0) return syntaxError("zero length OBJECT IDENTIFIER");
  const numbers: number[] = [];
  for (let at = 0; at < content.length;) {
    const { value, next } = readNumber(content, at);
    numbers.push(value);
    at = next;
  }
  const [first = 0, ...rest] = numbers;
  const head = first < 80 ? [Math.floor(first / 40), first % 40] : [2, first - 80];
  return [...head, ...rest].join(".");
}

function bitStringOf(content: Uint8Array): BitString {
  if (content.length === 0) return syntaxError("zero length BIT STRING");
  return readBitString(content) ?? syntaxError("invalid padding bits in BIT STRING");
}

function integerOf(content: Uint8Array): bigint {
  if (content.length === 0) return structureError("empty integer");
  if (!isMinimalInteger(content)) return structureError("integer not minimally-encoded");
  if (content.length > 8) return structureError("integer too large");
  return readInteger(content) ?? 0n;
}

const TEXTS: ReadonlyMap<number, string> = new Map([
  [TAG.printableString, "asn1: syntax error: PrintableString contains invalid character"],
  [TAG.numericString, "asn1: syntax error: NumericString contains invalid character"],
  [TAG.ia5String, "asn1: syntax error: IA5String contains invalid character"],
  [TAG.utf8String, "asn1: invalid UTF-8 string"],
  [TAG.bmpString, "invalid BMPString"],
  [TAG.t61String, ""],
]);

/** What Go decodes for a member of any type: text, or a value whose form is checked and which is ignored. */
export function checkAnyValue({ tag, content }: Asn1Element): string | undefined {
  const complaint = TEXTS.get(tag);
  if (complaint !== undefined) return readText(tag, content) ?? refuse(complaint);
  if (tag === TAG.boolean && !(content.length === 1 && (content[0] === 0 || content[0] === 0xff))) return syntaxError("invalid boolean");
  if (tag === TAG.integer) integerOf(content);
  if (tag === TAG.bitString) bitStringOf(content);
  if (tag === TAG.objectIdentifier) readIdentifier(content);
  return undefined;
}
