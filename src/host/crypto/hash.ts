/** Checksums and hashes by node:crypto and node:zlib. */
import { createHash } from "node:crypto";
import { crc32 as zlibCrc32 } from "node:zlib";

/** Detects corruption, not forgery. `seed`: the checksum of the preceding bytes. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  return zlibCrc32(bytes, seed);
}

export function sha256(): { update(bytes: Uint8Array): void; digest(): Uint8Array } {
  const hash = createHash("sha256");
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest() };
}
