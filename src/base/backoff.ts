/**
 * How long to wait before the next attempt: longer each time up to a maximum, and by chance a little less, so that those who
 * failed together do not return together. Not here: waiting itself (Clock), and who must wait how long in a queue (rate-limiter.ts).
 */
import { assert } from "./assert.ts";
import type { Random } from "./random.ts";

export interface Growth {
  /** The first delay. */
  readonly minMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
  /** Each delay is this many times the one before. Default: 2. */
  readonly factor?: number;
}

/** The delay after `failures` failures before this one, without chance. */
export function exponentialDelayMs({ minMs, maxMs, factor = 2 }: Growth, failures: number): number {
  assert(minMs > 0 && maxMs >= minMs && factor >= 1, "a backoff grows from something above 0 to its maximum");
  return Math.min(maxMs, minMs * factor ** failures);
}

export interface BackoffOptions extends Growth {
  readonly random: Random;
  /** The part of each delay that is left to chance, 0 to 1. Default: 0.5, from half of the delay to all of it. */
  readonly jitter?: number;
}

/** Half of a delay stays certain, so that a backoff is one even in the luckiest case. */
const JITTER_DEFAULT = 0.5;

/** The delays of one thing that is tried again and again. */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    const { jitter = JITTER_DEFAULT } = options;
    assert(jitter >= 0 && jitter <= 1, "jitter is a part of the delay");
    this.#options = options;
  }

  /** How many delays were given since the last success. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The next delay, in milliseconds. */
  next(): number {
    const { random, jitter = JITTER_DEFAULT } = this.#options;
    const delayMs = exponentialDelayMs(this.#options, this.#attempts++);
    return delayMs * (1 - jitter * random.fraction());
  }

  /** It worked: the next failure starts from the first delay. */
  reset(): void {
    this.#attempts = 0;
  }
}
