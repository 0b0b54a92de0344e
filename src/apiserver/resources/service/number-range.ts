/**
 * Choosing a free number of a range: an address's offset, a node port. What is asked for by number comes from anywhere; what is given by
 * chance comes from the upper part first, so that the lower part stays free for those who choose (as upstream).
 */
import type { Random } from "../../../base/random.ts";

export interface NumberRange {
  /** The first and the last number, both included. */
  readonly first: number;
  readonly last: number;
  /** So many from the first on are given by chance only when all others are taken. */
  readonly reserved: number;
}

/** Guesses before the range is gone through: with half of it taken, this many wrong guesses in a row are rarer than one in 60,000. */
const GUESSES_MAX = 16;

export function isInRange({ first, last }: NumberRange, number: number): boolean {
  return number >= first && number <= last;
}

/** A number that is not taken, or undefined if there is none. */
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
  // Nearly full, or bad luck: the first free one after a random place.
  const start = random.below(size);
  for (let step = 0; step < size; step++) {
    const number = first + ((start + step) % size);
    if (!isTaken(number)) return number;
  }
  return undefined;
}
