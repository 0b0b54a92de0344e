/**
 * Base64 with padding, as JSON holds bytes. Line breaks are skipped and the error messages are Go's, since a mistyped Secret is the most
 * common way to meet this.
 */

/** The text is not base64. The message is Go's. */
export class Base64Error extends Error {
  override readonly name = "Base64Error";
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;
const NONE = 0xff;

/** The six bits of a character. */
const BITS = new Uint8Array(128).fill(NONE);
for (let bits = 0; bits < ALPHABET.length; bits++) BITS[ALPHABET.charCodeAt(bits)] = bits;

export function encodeBase64(bytes: Uint8Array): string {
  // In chunks: a million arguments to one call are too many, a million concatenations too slow.
  const parts: string[] = [];
  for (let start = 0; start < bytes.length; start += 3_072) parts.push(encodePart(bytes.subarray(start, start + 3_072)));
  return parts.join("");
}

function encodePart(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const bits = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    text += letter(bits >> 18) + letter(bits >> 12) + (left > 1 ? letter(bits >> 6) : "=") + (left > 2 ? letter(bits) : "=");
  }
  return text;
}

function letter(bits: number): string {
  return ALPHABET.charAt(bits & 0x3f);
}

export function decodeBase64(text: string): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((text.length * 3) / 4));
  let length = 0;
  let bits = 0;
  let collected = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isLineBreak(code)) continue;
    if (code === PADDING) {
      checkPadding(text, at, collected);
      bits <<= 6 * (4 - collected);
      bytes[length++] = bits >> 16;
      if (collected === 3) bytes[length++] = bits >> 8;
      return bytes.subarray(0, length);
    }
    const six = bitsOf(code);
    if (six === NONE) throw illegalAt(at);
    bits = (bits << 6) | six;
    if (++collected < 4) continue;
    bytes[length++] = bits >> 16;
    bytes[length++] = bits >> 8;
    bytes[length++] = bits;
    bits = collected = 0;
  }
  if (collected > 0) throw illegalAt(text.length - collected);
  return bytes.subarray(0, length);
}

/** Canonical form: the text itself if `encodeBase64` would write it so, as nearly always. */
export function canonicalBase64(text: string): string {
  return isCanonical(text) ? text : encodeBase64(decodeBase64(text));
}

function isCanonical(text: string): boolean {
  if (text.length % 4 !== 0) return false;
  if (text === "") return true;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const end = text.length - padding;
  for (let at = 0; at < end; at++) if (bitsOf(text.charCodeAt(at)) === NONE) return false;
  // Of the last character only the bits of a whole byte may be set.
  return (bitsOf(text.charCodeAt(end - 1)) & ((1 << (2 * padding)) - 1)) === 0;
}

function bitsOf(code: number): number {
  return BITS[code] ?? NONE;
}

/** `at` is the first `=`. After two characters there must be two of them, after three one, and nothing else may follow. */
function checkPadding(text: string, at: number, collected: number): void {
  if (collected < 2) throw illegalAt(at);
  let next = skipLineBreaks(text, at + 1);
  if (collected === 2) {
    if (text.charCodeAt(next) !== PADDING) throw illegalAt(next);
    next = skipLineBreaks(text, next + 1);
  }
  if (next < text.length) throw illegalAt(next);
}

function skipLineBreaks(text: string, from: number): number {
  let at = from;
  while (isLineBreak(text.charCodeAt(at))) at++;
  return at;
}

function isLineBreak(code: number): boolean {
  return code === 0x0a || code === 0x0d;
}

/** Only ASCII precedes it, so the index in the text equals that in bytes. */
function illegalAt(at: number): Base64Error {
  return new Base64Error(`illegal base64 data at input byte ${at}`);
}
