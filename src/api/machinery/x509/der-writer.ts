/**
 * Writes DER: every function returns one complete element of type, length and content. Covers what certificates need. Not here: parsing
 * (der.ts).
 */
import { explicitTag, implicitTag, TAG } from "./der.ts";

export type Content = Uint8Array | readonly number[];

export function element(tag: number, ...contents: readonly Content[]): Uint8Array {
  const size = contents.reduce((total, { length }) => total + length, 0);
  const head = [tag, ...lengthBytes(size)];
  const bytes = new Uint8Array(head.length + size);
  bytes.set(head);
  let at = head.length;
  for (const content of contents) {
    bytes.set(content, at);
    at += content.length;
  }
  return bytes;
}

/** In one byte if it is short, else big endian, preceded by the number of bytes. */
function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...members: readonly Content[]): Uint8Array {
  return element(TAG.sequence, ...members);
}

export function set(...members: readonly Content[]): Uint8Array {
  return element(TAG.set, ...members);
}

export function boolean(value: boolean): Uint8Array {
  return element(TAG.boolean, [value ? 0xff : 0]);
}

/** A non-negative integer, big endian; leading zeros are dropped. */
export function unsignedInteger(bytes: Uint8Array): Uint8Array {
  const first = bytes.findIndex((byte) => byte !== 0);
  if (first < 0) return element(TAG.integer, [0]);
  // A set first bit would make it negative.
  const sign = (bytes[first] ?? 0) < 0x80 ? [] : [0];
  return element(TAG.integer, sign, bytes.subarray(first));
}

/** "2.5.29.17" */
export function objectIdentifier(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(TAG.objectIdentifier, [first * 40 + second, ...rest.flatMap(sevenBitGroups)]);
}

/** Big endian, seven bits per byte; all but the last have the eighth bit set. */
function sevenBitGroups(number: number): number[] {
  const groups = [number % 128];
  for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift(0x80 | (rest % 128));
  return groups;
}

export function utf8String(text: string): Uint8Array {
  return element(TAG.utf8String, asUtf8(text));
}

/** PrintableString if possible, as Go does. */
export function printableOrUtf8String(text: string): Uint8Array {
  const isPlain = /^[A-Za-z0-9 '()+,\-./:=?]*$/.test(text);
  return element(isPlain ? TAG.printableString : TAG.utf8String, asUtf8(text));
}

export function octetString(bytes: Content): Uint8Array {
  return element(TAG.octetString, bytes);
}

export function bitString(bytes: Content, unusedBits = 0): Uint8Array {
  return element(TAG.bitString, [unusedBits], bytes);
}

/** X.509 requires two-digit years before 2050 and four digits from then on. Milliseconds since the epoch; whole seconds are kept. */
export function time(timeMs: number): Uint8Array {
  const digits = new Date(timeMs).toISOString().replace(/[-:T]|\.\d+/g, "");
  return digits < "2050" ? element(TAG.utcTime, asUtf8(digits.slice(2))) : element(TAG.generalizedTime, asUtf8(digits));
}

/** Explicit tag [number] around another element. */
export function explicit(number: number, inner: Content): Uint8Array {
  return element(explicitTag(number), inner);
}

/** Implicit tag [number] in place of an element's own type, with simple content. */
export function implicit(number: number, content: Content): Uint8Array {
  return element(implicitTag(number), content);
}

export function asUtf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
