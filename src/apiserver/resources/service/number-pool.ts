/**
 * Numbers of a range, each held by at most one: the offsets of addresses, node ports. What is asked for by number comes from anywhere;
 * what is given by chance comes from the upper part first, so that the lower part stays free for those who choose (as upstream).
 */
import type { Random } from "../../../base/random.ts";

export interface PoolRange {
  /** The first and the last number, both included. */
  readonly first: number;
  readonly last: number;
  /** So many from the first on are given by chance only when all others are taken. */
  readonly reserved: number;
}

/** Guesses before the range is gone through: with half of it taken, this many wrong guesses in a row are rarer than one in 60,000. */
const GUESSES_MAX = 16;

export class NumberPool {
  readonly range: PoolRange;
  /** How many hold a number; two can, while a write that replaces its holder is on its way. */
  readonly #held = new Map<number, number>();

  constructor(range: PoolRange) {
    this.range = range;
  }

  contains(number: number): boolean {
    return number >= this.range.first && number <= this.range.last;
  }

  isHeld(number: number): boolean {
    return this.#held.has(number);
  }

  holders(number: number): number {
    return this.#held.get(number) ?? 0;
  }

  hold(number: number): void {
    this.#held.set(number, (this.#held.get(number) ?? 0) + 1);
  }

  release(number: number): void {
    const holders = this.#held.get(number) ?? 0;
    if (holders > 1) this.#held.set(number, holders - 1);
    else this.#held.delete(number);
  }

  /** A free number, or undefined if there is none. Does not hold it. */
  pick(random: Random): number | undefined {
    const { first, last, reserved } = this.range;
    const upper = Math.min(first + reserved, last);
    return this.#pickBetween(upper, last, random) ?? this.#pickBetween(first, upper - 1, random);
  }

  #pickBetween(first: number, last: number, random: Random): number | undefined {
    const size = last - first + 1;
    if (size <= 0) return undefined;
    for (let guess = 0; guess < GUESSES_MAX; guess++) {
      const number = first + random.below(Math.min(size, 2 ** 32));
      if (!this.#held.has(number)) return number;
    }
    // Nearly full, or bad luck: the first free one after a random place.
    const start = random.below(Math.min(size, 2 ** 32));
    for (let step = 0; step < size; step++) {
      const number = first + ((start + step) % size);
      if (!this.#held.has(number)) return number;
    }
    return undefined;
  }
}
