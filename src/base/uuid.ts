/**
 * Random UUIDs, from an injected `Random`, so that a run from a seed is reproducible. Not for secrets.
 *
 * Every object and every request has one, and thousands are kept. Concatenated parts would be a tree of strings, which costs twice the time
 * to build and ten times the memory to keep; the characters of one call are one string.
 */
import type { Random } from "./random.ts";

const DIGITS = Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const DASH = "-".charCodeAt(0);

/** A UUID of version 4. */
export function newUid(random: Random): string {
  const a = random.below(2 ** 32);
  const b = random.below(2 ** 32);
  const c = random.below(2 ** 32);
  const d = random.below(2 ** 32);
  const version = 0x40 | ((b >>> 8) & 0x0f);
  const variant = 0x80 | ((c >>> 24) & 0x3f);
  // oxfmt-ignore
  return String.fromCharCode(
    digit(a, 28), digit(a, 24), digit(a, 20), digit(a, 16), digit(a, 12), digit(a, 8), digit(a, 4), digit(a, 0), DASH,
    digit(b, 28), digit(b, 24), digit(b, 20), digit(b, 16), DASH,
    digit(version, 4), digit(version, 0), digit(b, 4), digit(b, 0), DASH,
    digit(variant, 4), digit(variant, 0), digit(c, 20), digit(c, 16), DASH,
    digit(c, 12), digit(c, 8), digit(c, 4), digit(c, 0),
    digit(d, 28), digit(d, 24), digit(d, 20), digit(d, 16), digit(d, 12), digit(d, 8), digit(d, 4), digit(d, 0),
  );
}

function digit(word: number, shift: number): number {
  return DIGITS[(word >>> shift) & 0xf] as number;
}
