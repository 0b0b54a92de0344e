/** Random UUIDs, from an injected `Random`, so that a run from a seed is reproducible. Not for secrets. */
import type { Random } from "./random.ts";

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** A UUID of version 4. */
export function newUid(random: Random): string {
  const a = random.below(2 ** 32);
  const b = random.below(2 ** 32);
  const c = random.below(2 ** 32);
  const d = random.below(2 ** 32);
  const version = 0x40 | ((b >>> 8) & 0x0f);
  const variant = 0x80 | ((c >>> 24) & 0x3f);
  return `${hexWord(a)}-${hex(b >>> 24)}${hex(b >>> 16)}-${HEX[version]}${hex(b)}-${HEX[variant]}${hex(c >>> 16)}-${hex(c >>> 8)}${hex(c)}${hexWord(d)}`;
}

function hex(word: number): string {
  return HEX[word & 0xff] as string;
}

function hexWord(word: number): string {
  return hex(word >>> 24) + hex(word >>> 16) + hex(word >>> 8) + hex(word);
}
