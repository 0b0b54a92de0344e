/**
 * HMAC (RFC 2104) with SHA-256, in plain arithmetic: a hash that only who knows the key can make. For signatures that must be the same on
 * every machine. How long it takes depends on the lengths of key and message, and on nothing else of them.
 */
import { sha256 } from "./sha-256.ts";

const BLOCK_BYTES = 64;

/** The 32 bytes of the hash. The message may come in parts. */
export function hmacSha256(key: Uint8Array, ...message: readonly Uint8Array[]): Uint8Array {
  const short = key.length > BLOCK_BYTES ? sha256(key) : key;
  const padded = (mask: number) => Uint8Array.from({ length: BLOCK_BYTES }, (_, index) => (short[index] ?? 0) ^ mask);
  return sha256(joined(padded(0x5c), sha256(joined(padded(0x36), ...message))));
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
