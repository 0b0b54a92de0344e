/** Names and uids that the server generates. From an injected `Random`, so that a run from a seed is reproducible. */
import type { Random } from "../../../base/random.ts";

/** No vowels and no look-alikes: no words come out by accident. The same characters as upstream's. */
const NAME_CHARACTERS = "bcdfghjklmnpqrstvwxz2456789";
const RANDOM_LENGTH = 5;
const NAME_LENGTH_MAX = 63;

/** A name from `metadata.generateName`. */
export function generateName(prefix: string, random: Random): string {
  let name = prefix.slice(0, NAME_LENGTH_MAX - RANDOM_LENGTH);
  for (let index = 0; index < RANDOM_LENGTH; index++) name += NAME_CHARACTERS[random.below(NAME_CHARACTERS.length)];
  return name;
}

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
