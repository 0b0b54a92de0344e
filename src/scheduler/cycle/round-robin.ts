/**
 * Which of several equally good nodes is taken: they take turns. Where the turns begin and in which order they go comes from the seed, so
 * that a run can be repeated exactly and another seed gives another one. As long as the same number of nodes is equal, none is taken twice
 * before all were taken once.
 */
import { type Random, pick } from "../../base/random.ts";

/**
 * Each turn goes on by one of these. They are primes greater than any number of nodes, so they share no factor with it and the turns meet
 * every node; modulo a small number of nodes they give different orders.
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

  /** The index of the one whose turn it is, among `count`, which is at least 1. */
  next(count: number): number {
    if (count === 1) return 0;
    const index = this.#at % count;
    // Beyond this, numbers are not exact any more: begin again.
    this.#at = this.#at > Number.MAX_SAFE_INTEGER - this.#step ? 0 : this.#at + this.#step;
    return index;
  }
}
