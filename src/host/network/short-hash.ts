/** Short names for chains, sets and links, whose length the kernel limits, from texts of any length. */
import { sha256 } from "../crypto/hash.ts";

/** More names than any table has; a collision among a million names of 16 digits has a chance of 1 in 40 million. */
const KEPT_MAX = 100_000;

const kept = new Map<string, string>();

/** The first hexadecimal digits of the SHA-256 of `text`. */
export function shortHash(text: string, { digits }: { readonly digits: number }): string {
  let hash = kept.get(text);
  if (hash === undefined) {
    const computing = sha256();
    computing.update(new TextEncoder().encode(text));
    hash = [...computing.digest().subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    if (kept.size >= KEPT_MAX) kept.clear();
    kept.set(text, hash);
  }
  return hash.slice(0, digits);
}
