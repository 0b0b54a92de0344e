/**
 * Reads DER, the binary form of certificates: elements of type, length and content with a unique encoding. A reader consumes one element
 * after the other; an unexpected one is `undefined`, and the caller creates the error. Not here: writing (der-writer.ts), and the error
 * messages of requests (asn1.ts).
 */

/** The first byte of an element. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  numericString: 0x12,
  printableString: 0x13,
  t61String: 0x14,
  ia5String: 0x16,
  utcTime: 0x17,
  generalizedTime: 0x18,
  bmpString: 0x1e,
  sequence: 0x30,
  set: 0x31,
} as const;

const CONTEXT = 0x80;
const CONSTRUCTED = 0x20;
const NUMBER_BITS = 0x1f;

/** Implicit tag [number] in place of an element's own type. */
export function implicitTag(number: number): number {
  return CONTEXT | number;
}

/** Explicit tag [number] around other elements. */
export function explicitTag(number: number): number {
  return CONTEXT | CONSTRUCTED | number;
}

export interface DerElement {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With its type and length. */
  readonly whole: Uint8Array;
}

export class DerReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isEmpty(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** True if an element of this type is next. */
  isNext(tag: number): boolean {
    return this.#bytes[this.#at] === tag;
  }

  /** The next one, of any type. */
  any(): DerElement | undefined {
    const found = readElement(this.#bytes, this.#at);
    if (found !== undefined) this.#at += found.whole.length;
    return found;
  }

  element(tag: number): DerElement | undefined {
    return this.isNext(tag) ? this.any() : undefined;
  }

  content(tag: number): Uint8Array | undefined {
    return this.element(tag)?.content;
  }

  /** A reader of its content. */
  inside(tag: number): DerReader | undefined {
    const content = this.content(tag);
    return content === undefined ? undefined : new DerReader(content);
  }

  integer(tag: number = TAG.integer): bigint | undefined {
    const content = this.content(tag);
    return content === undefined ? undefined : readInteger(content);
  }

  boolean(): boolean | undefined {
    const content = this.content(TAG.boolean);
    if (content?.length !== 1) return undefined;
    return content[0] === 0xff ? true : content[0] === 0 ? false : undefined;
  }

  /** "2.5.29.17" */
  objectIdentifier(): string | undefined {
    const content = this.content(TAG.objectIdentifier);
    return content === undefined ? undefined : readObjectIdentifier(content);
  }

  bitString(): BitString | undefined {
    const content = this.content(TAG.bitString);
    return content === undefined ? undefined : readBitString(content);
  }
}

function readElement(bytes: Uint8Array, at: number): DerElement | undefined {
  const tag = bytes[at];
  const first = bytes[at + 1];
  // Tag numbers of more than five bits are not used in certificates.
  if (tag === undefined || first === undefined || (tag & NUMBER_BITS) === NUMBER_BITS) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  const length = lengthBytes === 0 ? first : readLength(bytes.subarray(at + 2, at + 2 + lengthBytes), lengthBytes);
  const start = at + 2 + lengthBytes;
  if (first === 0x80 || length === undefined || start + length > bytes.length) return undefined;
  return { tag, content: bytes.subarray(start, start + length), whole: bytes.subarray(at, start + length) };
}

/** A length has the minimal number of bytes, at most four. */
function readLength(bytes: Uint8Array, expected: number): number | undefined {
  if (bytes.length < expected || expected > 4 || bytes[0] === 0) return undefined;
  const length = bytes.reduce((total, byte) => total * 256 + byte, 0);
  return length < 0x80 ? undefined : length;
}

export function isMinimalInteger(content: Uint8Array): boolean {
  const [first = 0, second] = content;
  if (second === undefined) return content.length === 1;
  return !((first === 0 && second < 0x80) || (first === 0xff && second >= 0x80));
}

/** Two's complement. */
export function readInteger(content: Uint8Array): bigint | undefined {
  if (!isMinimalInteger(content)) return undefined;
  return BigInt.asIntN(content.length * 8, unsigned(content));
}

export function unsigned(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt(`0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`);
}

/** Seven bits per byte; the first number encodes two. */
function readObjectIdentifier(content: Uint8Array): string | undefined {
  const numbers: number[] = [];
  let number = 0;
  let isOpen = false;
  for (const byte of content) {
    if ((!isOpen && byte === 0x80) || number >= 2 ** 24) return undefined;
    number = number * 128 + (byte & 0x7f);
    isOpen = byte >= 0x80;
    if (isOpen) continue;
    numbers.push(number);
    number = 0;
  }
  const [first, ...rest] = numbers;
  if (isOpen || first === undefined) return undefined;
  const head = first < 80 ? [Math.floor(first / 40), first % 40] : [2, first - 80];
  return [...head, ...rest].join(".");
}

export interface BitString {
  readonly bytes: Uint8Array;
  /** Unused bits of the last byte; they are zero. */
  readonly unusedBits: number;
}

export function readBitString(content: Uint8Array): BitString | undefined {
  const [unusedBits] = content;
  if (unusedBits === undefined || unusedBits > 7 || (content.length === 1 && unusedBits > 0)) return undefined;
  if (((content.at(-1) ?? 0) & ((1 << unusedBits) - 1)) !== 0) return undefined;
  return { bytes: content.subarray(1), unusedBits };
}

/** As a number whose last bit is the string's: the bytes themselves for whole bytes. */
export function rightAligned({ bytes, unusedBits }: BitString): Uint8Array {
  if (unusedBits === 0) return bytes;
  return bytes.map((byte, index) => (byte >> unusedBits) | ((bytes[index - 1] ?? 0) << (8 - unusedBits)));
}
