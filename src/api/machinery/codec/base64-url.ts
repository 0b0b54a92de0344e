/**
 * base64url without padding (RFC 7515), as JSON Web Tokens and JSON Web Keys are written. Only the canonical encoding is accepted, so
 * that a signed token cannot be altered and stay valid.
 */
import { canonicalBase64, decodeBase64, encodeBase64 } from "./base64.ts";

export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** undefined if the text is not the canonical encoding, the one that `encodeBase64Url` returns. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  // One remaining character has too few bits for a byte.
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const padded = text
    .replaceAll("-", "+")
    .replaceAll("_", "/")
    .padEnd(Math.ceil(text.length / 4) * 4, "=");
  return canonicalBase64(padded) === padded ? decodeBase64(padded) : undefined;
}
