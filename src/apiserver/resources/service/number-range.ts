/**
 * Allocates a free number of a range: an address offset, or a node port. Explicit requests may use the whole range; random allocation uses
 * the upper part first, so that the lower part stays free for explicit requests (as upstream).
 */
import type { Random } from "../../../base/random.ts";

export interface NumberRange {
  /** The first and the last number, both included. */
  readonly first: number;
  readonly last: number;
  /** Size of the lower part, used by random allocation only when all others are taken. */
  readonly reserved: number;
}

/** Random attempts before a linear scan: with half of the range taken, this many misses in a row are rarer than one in 60,000. */
const GUESSES_MAX = 16;

export function isInRange({ first, last }: NumberRange, number: number): boolean {
  return number >= first && number <= last;
}

/** Returns a free number, or undefined if none exists. */
export function pickFree(range: NumberRange, random: Random, isTaken: (number: number) => boolean): number | undefined {
  const { first, last, reserved } = range;
  const upper = Math.min(first + reserved, last);
  return pickBetween({ first: upper, last }, random, isTaken) ?? pickBetween({ first, last: upper - 1 }, random, isTaken);
}

function pickBetween(
  { first, last }: Pick<NumberRange, "first" | "last">,
  random: Random,
  isTaken: (number: number) => boolean,
): number | undefined {
  const size = last - first + 1;
  if (size <= 0) return undefined;
  for (let guess = 0; guess < GUESSES_MAX; guess++) {
    const number = first + random.below(size);
    if (!isTaken(number)) return number;
  }
  // Nearly full, or bad luck: scans from a random position.
  const start = random.below(size);
  for (let step = 0; step < size; step++) {
    const number = first + ((start + step) % size);
    if (!isTaken(number)) return number;
  }
  return undefined;
}
