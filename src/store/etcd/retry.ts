/**
 * Retry policy for a cluster: every member once without delay, then with backoff, up to a deadline. It only counts and waits; whether a
 * retry is safe is the caller's decision.
 */
import { Backoff } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";

/** Delay between rounds in which every member failed. The first is short, since a new connection is often all it takes. */
export const RETRY_GROWTH = { minMs: 50, maxMs: 1_000 };

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly limitMs: number;
  readonly members: number;
  readonly closing: AbortSignal;
}

export class Retry {
  readonly #clock: Clock;
  readonly #closing: AbortSignal;
  readonly #backoff: Backoff;
  readonly #members: number;
  readonly #giveUpAtMs: number;
  #tries = 0;

  constructor(options: RetryOptions) {
    this.#clock = options.clock;
    this.#closing = options.closing;
    this.#backoff = new Backoff({ ...RETRY_GROWTH, random: options.random });
    this.#members = options.members;
    this.#giveUpAtMs = options.clock.monotonic() + options.limitMs;
  }

  get remainingMs(): number {
    return Math.max(1, this.#giveUpAtMs - this.#clock.monotonic());
  }

  /** After `tries` more failures: false if there is no time left or the store closes, else true, after a delay if it is due. */
  async again(tries: number, signal: AbortSignal = this.#closing): Promise<boolean> {
    this.#tries += tries;
    const pauseMs = this.#tries % this.#members === 0 ? this.#backoff.next() : 0;
    if (signal.aborted || this.#clock.monotonic() + pauseMs >= this.#giveUpAtMs) return false;
    if (pauseMs === 0) return true;
    return this.#clock.sleep(pauseMs, signal).then(
      () => true,
      () => false,
    );
  }
}
