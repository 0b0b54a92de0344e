/** Reads literals: numbers with their ranges, and strings and bytes with their escapes. */
import { encodeUtf8 } from "../../base/utf8.ts";
import { Uint } from "../values/value.ts";

export const INT_MIN = -(2n ** 63n);
export const INT_MAX = 2n ** 63n - 1n;
export const UINT_MAX = 2n ** 64n - 1n;

/** undefined: out of range. */
export function readInt(text: string, isNegative: boolean): bigint | undefined {
  const magnitude = BigInt(text);
  const value = isNegative ? -magnitude : magnitude;
  return value < INT_MIN || value > INT_MAX ? undefined : value;
}

export function readUint(text: string): Uint | undefined {
  const value = BigInt(text.slice(0, -1));
  return value > UINT_MAX ? undefined : new Uint(value);
}

export function readDouble(text: string, isNegative: boolean): number | undefined {
  const value = Number(text);
  if (!Number.isFinite(value)) return undefined;
  return isNegative ? -value : value;
}

const SIMPLE: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };
const ESCAPES = /\\(?:([0-3][0-7]{2})|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([^]))/gu;
const POINT_MAX = 0x10_ffff;

/** The text of a string token, or a message. Surrogates and points above the last one cannot be written. */
export function readString(token: string): { readonly value: string } | { readonly problem: string } {
  const { body, isRaw } = unquote(token);
  if (isRaw) return { value: body };
  let problem: string | undefined;
  const value = body.replaceAll(ESCAPES, (_, octal, hex, short, long, character: string | undefined) => {
    if (character !== undefined) return character in SIMPLE ? String.fromCodePoint(SIMPLE[character] ?? 0) : character;
    const point = octal === undefined ? Number.parseInt(String(hex ?? short ?? long), 16) : Number.parseInt(String(octal), 8);
    if (point > POINT_MAX || (point >= 0xd800 && point <= 0xdfff)) problem = "invalid unicode code point";
    return problem === undefined ? String.fromCodePoint(point) : "";
  });
  return problem === undefined ? { value } : { problem };
}

export function readBytes(token: string): { readonly value: Uint8Array } | { readonly problem: string } {
  const { body, isRaw } = unquote(token.slice(1));
  if (isRaw) return { value: encodeUtf8(body) };
  const parts: number[] = [];
  let last = 0;
  for (const match of body.matchAll(ESCAPES)) {
    parts.push(...encodeUtf8(body.slice(last, match.index)));
    last = match.index + match[0].length;
    const [, octal, hex, short, long, character] = match;
    if (short !== undefined || long !== undefined) return { problem: "unable to unescape string" };
    if (character === undefined) parts.push(octal === undefined ? Number.parseInt(hex ?? "0", 16) : Number.parseInt(octal, 8));
    else parts.push(...(character in SIMPLE ? [SIMPLE[character] ?? 0] : encodeUtf8(character)));
  }
  parts.push(...encodeUtf8(body.slice(last)));
  return { value: Uint8Array.from(parts) };
}

function unquote(token: string): { readonly body: string; readonly isRaw: boolean } {
  const isRaw = /^[rR]/.test(token);
  const quoted = (isRaw ? token.slice(1) : token).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  const quotes = /^("""|''')/.test(quoted) && quoted.length >= 6 ? 3 : 1;
  return { body: quoted.slice(quotes, -quotes), isRaw };
}
