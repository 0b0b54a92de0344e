/** FNV-1a, 32 bits: the hash that upstream makes names and labels of. It is fast and spreads evenly; it protects nothing. */
import { encodeUtf8 } from "./utf8.ts";

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** Of the text in UTF-8; unsigned. */
export function fnv1a32(text: string): number {
  let hash = OFFSET;
  for (const byte of encodeUtf8(text)) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}
