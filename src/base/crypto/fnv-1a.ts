/** FNV-1a and FNV-1, 32 bits: the hashes that upstream makes names and labels of. They are fast and spread evenly; they protect nothing. */
import { encodeUtf8 } from "../utf8.ts";

const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** Of the text in UTF-8, then of the bytes after it; unsigned. */
export function fnv1a32(text: string, after: Iterable<number> = []): number {
  let hash = OFFSET;
  for (const byte of encodeUtf8(text)) hash = Math.imul(hash ^ byte, PRIME);
  for (const byte of after) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}

/** The older order, multiplication first: upstream names the revisions of StatefulSets with it. */
export function fnv1Hash32(text: string): number {
  let hash = OFFSET;
  for (const byte of encodeUtf8(text)) hash = Math.imul(hash, PRIME) ^ byte;
  return hash >>> 0;
}
