/**
 * Base64 as tokens hold it (RFC 7515): two other letters, no padding. Exactly one text stands for given bytes: what is written in any
 * other way is refused, so that a token cannot be varied and still be good.
 */
import { canonicalBase64, decodeBase64, encodeBase64 } from "../../api/machinery/codec/base64.ts";

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** undefined: it is not written as `encodeBase64Url` would write it. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  // A single letter left over has too few bits for a byte.
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const padded = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(Math.ceil(text.length / 4) * 4, "=");
  return canonicalBase64(padded) === padded ? decodeBase64(padded) : undefined;
}
