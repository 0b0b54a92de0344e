/**
 * Tie-breaking among equally scored nodes by rotation. Start and order come from the seed, so that a run can be reproduced and another seed
 * gives another one. As long as the number of ties is constant, none is chosen twice before all were chosen once.
 */
import { type Random, pick } from "../../base/random.ts";

/**
 * Step sizes. Primes greater than any number of nodes, so they are coprime to it and the rotation reaches every node; modulo a small number
 * of nodes they give different orders.
 */
const STEPS = [1_000_003, 1_000_033, 1_000_037, 1_000_039, 1_000_081, 1_000_099, 1_000_117, 1_000_121, 1_000_133, 1_000_151];

const STARTS = 1_000_000;

export class RoundRobin {
  readonly #step: number;
  #at: number;

  constructor(random: Random) {
    this.#step = pick(random, STEPS);
    this.#at = random.below(STARTS);
  }

  /** The chosen index among `count`, which is at least 1. */
  next(count: number): number {
    if (count === 1) return 0;
    const index = this.#at % count;
    // Beyond this, numbers are inexact: restart.
    this.#at = this.#at > Number.MAX_SAFE_INTEGER - this.#step ? 0 : this.#at + this.#step;
    return index;
  }
}
