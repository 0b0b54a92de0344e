/**
 * Exponential backoff: the delay before the next attempt grows up to a maximum, less a random jitter so that clients that failed together
 * do not retry together. Not here: the waiting itself (Clock), per-key delays of a work queue (rate-limiter.ts).
 */
import { assert } from "./assert.ts";
import type { Random } from "./random.ts";

export interface Growth {
  /** The first delay. */
  readonly minMs: number;
  /** Upper bound of every delay. */
  readonly maxMs: number;
  /** Factor between consecutive delays. Default: 2. */
  readonly factor?: number;
}

/** The delay after `failures` previous failures, without jitter. */
export function exponentialDelayMs({ minMs, maxMs, factor = 2 }: Growth, failures: number): number {
  assert(minMs > 0 && maxMs >= minMs && factor >= 1, "a backoff grows from a delay above 0 to its maximum");
  return Math.min(maxMs, minMs * factor ** failures);
}

export interface BackoffOptions extends Growth {
  readonly random: Random;
  /** Share of each delay that is jitter, 0 to 1. Default: 0.5, which gives half of the delay to all of it. */
  readonly jitter?: number;
}

/** Half of each delay is guaranteed, so that jitter can never cancel the backoff. */
const JITTER_DEFAULT = 0.5;

/** The retry delays of one operation. */
export class Backoff {
  readonly #options: BackoffOptions;
  #attempts = 0;

  constructor(options: BackoffOptions) {
    const { jitter = JITTER_DEFAULT } = options;
    assert(jitter >= 0 && jitter <= 1, "jitter is a share of the delay");
    this.#options = options;
  }

  /** Number of delays handed out since the last success. */
  get attempts(): number {
    return this.#attempts;
  }

  /** The next delay, in milliseconds. */
  next(): number {
    const { random, jitter = JITTER_DEFAULT } = this.#options;
    const delayMs = exponentialDelayMs(this.#options, this.#attempts++);
    return delayMs * (1 - jitter * random.fraction());
  }

  /** Resets after a success: the next failure starts from the first delay. */
  reset(): void {
    this.#attempts = 0;
  }
}
