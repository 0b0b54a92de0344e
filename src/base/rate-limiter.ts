/**
 * Retry delays of work-queue keys, as upstream's default controller rate limiter (client-go util/workqueue): a key that keeps failing waits
 * exponentially longer, and all keys together stay below a rate, so that neither one broken object nor many at once overload the API
 * server.
 */
import { assert } from "./assert.ts";
import { exponentialDelayMs, type Growth } from "./backoff.ts";
import type { Clock } from "./clock.ts";

export interface RateLimiter<K> {
  /** Counts one more retry of `key` and returns its delay. */
  nextDelayMs(key: K): number;
  /**
   * The work succeeded or was abandoned: the back-off of the next retry starts from the beginning. Must be called eventually for every key, or its count stays in memory.
   */
  forget(key: K): void;
  /** Retries of `key` since it was last forgotten. */
  retries(key: K): number;
}

/** Upstream's values: per key 5 ms, 10 ms, ... 16 min 40 s; all keys together a burst of 100 and then 10 per second. */
export const KEY_DELAY_MIN_MS = 5;
export const KEY_DELAY_MAX_MS = 1_000_000;
export const ALL_KEYS_PER_SECOND = 10;
export const ALL_KEYS_BURST = 100;

export function defaultRateLimiter<K>(clock: Clock): RateLimiter<K> {
  return longestOf([
    perKeyExponential<K>({ minMs: KEY_DELAY_MIN_MS, maxMs: KEY_DELAY_MAX_MS }),
    perBucket<K>(new TokenBucket({ clock, perSecond: ALL_KEYS_PER_SECOND, burst: ALL_KEYS_BURST })),
  ]);
}

/** Per key: the delay grows with each retry and restarts after `forget`. */
export function perKeyExponential<K>(growth: Growth): RateLimiter<K> {
  const retriesOf = new Map<K, number>();
  return {
    nextDelayMs(key) {
      const before = retriesOf.get(key) ?? 0;
      retriesOf.set(key, before + 1);
      return exponentialDelayMs(growth, before);
    },
    forget: (key) => void retriesOf.delete(key),
    retries: (key) => retriesOf.get(key) ?? 0,
  };
}

/** All keys share one bucket. */
export function perBucket<K>(bucket: TokenBucket): RateLimiter<K> {
  return { nextDelayMs: () => bucket.take(), forget: () => {}, retries: () => 0 };
}

/** Calls every limiter, since each must count, and returns the longest delay. */
export function longestOf<K>(limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    nextDelayMs: (key) => Math.max(0, ...limiters.map((limiter) => limiter.nextDelayMs(key))),
    forget: (key) => limiters.forEach((limiter) => limiter.forget(key)),
    retries: (key) => Math.max(0, ...limiters.map((limiter) => limiter.retries(key))),
  };
}

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Refill rate in tokens. */
  readonly perSecond: number;
  /** Initial and maximum number of tokens. */
  readonly burst: number;
}

/** Token bucket. If empty, a caller reserves a future token and receives the delay until it is available. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Negative: that many tokens are reserved. */
  #tokens: number;
  #countedAtMs: number;

  constructor({ clock, perSecond, burst }: TokenBucketOptions) {
    assert(perSecond > 0 && burst >= 1, "a bucket fills up and holds at least one token");
    this.#clock = clock;
    this.#perMs = perSecond / 1_000;
    this.#burst = burst;
    this.#tokens = burst;
    this.#countedAtMs = clock.monotonic();
  }

  /** Takes a token and returns in how many milliseconds it is available. 0: now. */
  take(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token only if one is available. */
  takeNow(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#countedAtMs) * this.#perMs);
    this.#countedAtMs = nowMs;
  }
}
