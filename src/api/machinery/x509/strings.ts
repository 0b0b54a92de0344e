/** String types of names in certificates. Undefined: the bytes are malformed for the type. */
import { TAG } from "./der.ts";

export function readText(tag: number, bytes: Uint8Array): string | undefined {
  switch (tag) {
    case TAG.t61String:
      return latin1(bytes);
    case TAG.printableString:
      return onlyIf(/^[A-Za-z0-9 '()+,\-./:=?*&]*$/, bytes);
    case TAG.numericString:
      return onlyIf(/^[0-9 ]*$/, bytes);
    case TAG.ia5String:
      return isAscii(bytes) ? latin1(bytes) : undefined;
    case TAG.utf8String:
      return readUtf8(bytes);
    case TAG.bmpString:
      return readBmp(bytes);
    default:
      return undefined;
  }
}

export function isAscii(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80);
}

export function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}

function onlyIf(allowed: RegExp, bytes: Uint8Array): string | undefined {
  const text = latin1(bytes);
  return allowed.test(text) ? text : undefined;
}

function readUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** UTF-16 without surrogates and non-characters; a trailing zero is dropped. */
function readBmp(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const units: number[] = [];
  for (let at = 0; at < bytes.length; at += 2) units.push((bytes[at] ?? 0) * 256 + (bytes[at + 1] ?? 0));
  if (units.at(-1) === 0) units.pop();
  const isNone = (unit: number) => unit >= 0xfffe || (unit >= 0xfdd0 && unit <= 0xfdef) || (unit >= 0xd800 && unit <= 0xdfff);
  return units.some(isNone) ? undefined : units.map((unit) => String.fromCharCode(unit)).join("");
}
