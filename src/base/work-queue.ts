/**
 * The keys of what is to be looked at, as client-go's work queue. It keeps true:
 * - A key stands in the line at most once, however often it is added: to look once is enough.
 * - A key is with at most one worker at a time. Added meanwhile, it comes once more after `done`, so no change is missed.
 * - A key that was added is handed out; only `shutDown` ends that for keys that wait for a delay.
 *
 * It has no maximum length: there are never more keys than objects, and a key that is dropped is an object nobody looks at.
 */
import { NO_LONGER_WANTED, onAbort } from "./abort.ts";
import { assert } from "./assert.ts";
import type { Clock } from "./clock.ts";
import { Fifo } from "./fifo.ts";
import { defaultRateLimiter, type RateLimiter } from "./rate-limiter.ts";

export interface WorkQueueOptions<K> {
  readonly clock: Clock;
  /** For `addRateLimited`. Default: upstream's, see rate-limiter.ts. */
  readonly rateLimiter?: RateLimiter<K>;
}

interface Delayed {
  readonly readyAtMs: number;
  readonly cancel: AbortController;
}

/** Keys are compared as in a Map, so use texts and not objects. */
export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter<K>;
  readonly #line = new Fifo<K>();
  /** Keys that must be looked at: those in the line, and those that were added while a worker has them. */
  readonly #wanted = new Set<K>();
  /** Keys that a worker has. */
  readonly #taken = new Set<K>();
  readonly #delayed = new Map<K, Delayed>();
  /** Workers that wait for a key, the longest first. While there are any, the line is empty. */
  readonly #waiters = new Set<(key: K | undefined) => void>();
  #isShutDown = false;

  constructor({ clock, rateLimiter = defaultRateLimiter<K>(clock) }: WorkQueueOptions<K>) {
    this.#clock = clock;
    this.#rateLimiter = rateLimiter;
  }

  /** Keys that a worker could take now. */
  get length(): number {
    return this.#line.length;
  }

  /** Keys that wait for their delay. A key may be counted here and in `length`. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** True while `key` waits for its delay. */
  isDelayed(key: K): boolean {
    return this.#delayed.has(key);
  }

  /** Keys that workers have. */
  get inProgress(): number {
    return this.#taken.size;
  }

  /** Wants `key` looked at. Does nothing after `shutDown`. */
  add(key: K): void {
    if (this.#isShutDown || this.#wanted.has(key)) return;
    this.#wanted.add(key);
    if (!this.#taken.has(key)) this.#lineUp(key);
  }

  /** Adds `key` after a while. Of several delays of one key the earliest end counts. */
  addAfter(key: K, delayMs: number): void {
    if (this.#isShutDown) return;
    if (delayMs <= 0) return this.add(key);
    const readyAtMs = this.#clock.monotonic() + delayMs;
    const before = this.#delayed.get(key);
    if (before !== undefined && before.readyAtMs <= readyAtMs) return;
    before?.cancel.abort(NO_LONGER_WANTED);
    const cancel = new AbortController();
    this.#delayed.set(key, { readyAtMs, cancel });
    const ready = () => {
      this.#delayed.delete(key);
      this.add(key);
    };
    const cancelled = () => {}; // By an earlier one, or by shutDown: they have seen to it.
    this.#clock.sleep(delayMs, cancel.signal).then(ready, cancelled);
  }

  /** Adds `key` once the rate limiter lets it: for what failed. */
  addRateLimited(key: K): void {
    if (this.#isShutDown) return;
    this.addAfter(key, this.#rateLimiter.nextDelayMs(key));
  }

  /** Ends the counting of retries; call it when the work on `key` succeeded or is given up. Does not take it out of the line. */
  forget(key: K): void {
    this.#rateLimiter.forget(key);
  }

  /** How often `key` was added with `addRateLimited` since it was forgotten. */
  retries(key: K): number {
    return this.#rateLimiter.retries(key);
  }

  /**
   * The next key, as soon as there is one; `undefined` when the queue is shut down and empty. Call `done` when finished with it.
   * Rejects with the signal's reason; no key is lost by that.
   */
  take(signal?: AbortSignal): Promise<K | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#line.length > 0) return Promise.resolve(this.#handOut(this.#line.shift() as K));
    if (this.#isShutDown) return Promise.resolve(undefined);
    return this.#wait(signal);
  }

  /** The worker has finished with `key`, well or not. */
  done(key: K): void {
    assert(this.#taken.delete(key), "a key that is done was taken");
    if (this.#wanted.has(key)) this.#lineUp(key);
  }

  /** No more is added, delays end without their keys. Workers get what stands in the line, and then `undefined`. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel.abort(NO_LONGER_WANTED);
    this.#delayed.clear();
    for (const waiter of this.#waiters) waiter(undefined);
  }

  #lineUp(key: K): void {
    const [waiter] = this.#waiters;
    if (waiter === undefined) this.#line.push(key);
    else waiter(this.#handOut(key));
  }

  #handOut(key: K): K {
    this.#wanted.delete(key);
    this.#taken.add(key);
    return key;
  }

  #wait(signal: AbortSignal | undefined): Promise<K | undefined> {
    return new Promise((resolve, reject) => {
      const waiter = (key: K | undefined) => {
        this.#waiters.delete(waiter);
        stopListening?.();
        resolve(key);
      };
      const stopListening =
        signal &&
        onAbort(signal, () => {
          this.#waiters.delete(waiter);
          reject(signal.reason);
        });
      this.#waiters.add(waiter);
    });
  }
}
