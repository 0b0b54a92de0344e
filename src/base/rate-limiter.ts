/**
 * How long a key must wait before it is tried again. Two wishes at once, as upstream's default controller rate limiter
 * (client-go util/workqueue): a key that keeps failing waits longer each time, and all keys together stay below a rate, so that
 * neither one broken object nor many at once keep the API server busy.
 */
import { assert } from "./assert.ts";
import { exponentialDelayMs, type Growth } from "./backoff.ts";
import type { Clock } from "./clock.ts";

export interface RateLimiter<K> {
  /** Counts one more retry of `key` and says how long it must wait for it. */
  nextDelayMs(key: K): number;
  /** It worked, or is given up: the next retry starts anew. Must be called in the end for every key, or its count stays in memory. */
  forget(key: K): void;
  /** Retries of `key` since it was last forgotten. */
  retries(key: K): number;
}

/** Upstream's numbers: a key's delays are 5 ms, 10 ms, ... 16 min 40 s; all keys together get 100 at once and then 10 a second. */
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

/** Each key on its own: longer after each retry, the first delay again after `forget`. */
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

/** All keys from one bucket. */
export function perBucket<K>(bucket: TokenBucket): RateLimiter<K> {
  return { nextDelayMs: () => bucket.take(), forget: () => {}, retries: () => 0 };
}

/** Asks every limiter, since each must count, and waits for the slowest. */
export function longestOf<K>(limiters: readonly RateLimiter<K>[]): RateLimiter<K> {
  return {
    nextDelayMs: (key) => Math.max(0, ...limiters.map((limiter) => limiter.nextDelayMs(key))),
    forget: (key) => limiters.forEach((limiter) => limiter.forget(key)),
    retries: (key) => Math.max(0, ...limiters.map((limiter) => limiter.retries(key))),
  };
}

export interface TokenBucketOptions {
  readonly clock: Clock;
  /** Tokens that come back. */
  readonly perSecond: number;
  /** Tokens at the start, and never more. */
  readonly burst: number;
}

/** A rate with a burst. Whoever finds no token takes one that is yet to come, and is told how long until then. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perMs: number;
  readonly #burst: number;
  /** Below 0: so many are promised already. */
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

  /** Takes a token and says in how many milliseconds it is there. 0: now. */
  take(): number {
    this.#refill();
    this.#tokens--;
    return this.#tokens >= 0 ? 0 : -this.#tokens / this.#perMs;
  }

  /** Takes a token only if one is there. */
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
