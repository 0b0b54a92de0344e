/**
 * Hash functions of @noble/hashes for rooms that have no access to the machine: synchronous, and the same result in every process and
 * browser (docs/decisions/0023-hashes-and-signatures.md). About 150 MB/s of SHA-256.
 * Not here: hashes of files, images and snapshots, which node:crypto computes ten times as fast (src/host/crypto/hash.ts).
 */
import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { sha256, sha384, sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

/** The hash functions of certificate signatures. */
export const HASHES = { "SHA-1": sha1, "SHA-256": sha256, "SHA-384": sha384, "SHA-512": sha512 } as const;

export type HashName = keyof typeof HASHES;

export { sha256 };

/** Upper-case hexadecimal. */
export function sha256Hex(input: Uint8Array): string {
  return bytesToHex(sha256(input)).toUpperCase();
}

export function hmacSha256(key: Uint8Array, message: Uint8Array): Uint8Array {
  return hmac(sha256, key, message);
}
