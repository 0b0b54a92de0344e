/**
 * Work queue of keys to reconcile, as client-go's. It guarantees:
 * - A key is queued at most once, however often it is added: one reconciliation is enough.
 * - A key is held by at most one worker at a time. Added meanwhile, it is queued again after `done`, so that no change is missed.
 * - Every added key is handed out; only `shutDown` drops keys that wait for a delay.
 *
 * There is no maximum length: there are never more keys than objects, and a dropped key would be an object that is never reconciled.
 */
import { NOT_NEEDED, onAbort } from "./abort.ts";
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

/** Keys are compared as in a Map, so use strings and not objects. */
export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #rateLimiter: RateLimiter<K>;
  readonly #line = new Fifo<K>();
  /** Keys to process: queued, or added while a worker holds them. */
  readonly #wanted = new Set<K>();
  /** Keys held by workers. */
  readonly #taken = new Set<K>();
  readonly #delayed = new Map<K, Delayed>();
  /** Workers waiting for a key, longest first. While there are any, the queue is empty. */
  readonly #waiters = new Set<(key: K | undefined) => void>();
  #isShutDown = false;

  constructor({ clock, rateLimiter = defaultRateLimiter<K>(clock) }: WorkQueueOptions<K>) {
    this.#clock = clock;
    this.#rateLimiter = rateLimiter;
  }

  /** Number of keys that a worker could take now. */
  get length(): number {
    return this.#line.length;
  }

  /** Number of keys waiting for their delay. A key may be counted here and in `length`. */
  get delayed(): number {
    return this.#delayed.size;
  }

  /** True while `key` waits for its delay. */
  isDelayed(key: K): boolean {
    return this.#delayed.has(key);
  }

  /** Number of keys held by workers. */
  get inProgress(): number {
    return this.#taken.size;
  }

  /** Queues `key`. Does nothing after `shutDown`. */
  add(key: K): void {
    if (this.#isShutDown || this.#wanted.has(key)) return;
    this.#wanted.add(key);
    if (!this.#taken.has(key)) this.#lineUp(key);
  }

  /** Queues `key` after a delay. Of several delays of one key the earliest counts. */
  addAfter(key: K, delayMs: number): void {
    if (this.#isShutDown) return;
    if (delayMs <= 0) return this.add(key);
    const readyAtMs = this.#clock.monotonic() + delayMs;
    const before = this.#delayed.get(key);
    if (before !== undefined && before.readyAtMs <= readyAtMs) return;
    before?.cancel.abort(NOT_NEEDED);
    const cancel = new AbortController();
    this.#delayed.set(key, { readyAtMs, cancel });
    const ready = () => {
      this.#delayed.delete(key);
      this.add(key);
    };
    const cancelled = () => {}; // Aborted by an earlier delay or by shutDown, which have handled the key.
    this.#clock.sleep(delayMs, cancel.signal).then(ready, cancelled);
  }

  /** Queues `key` when the rate limiter allows it: for retries. */
  addRateLimited(key: K): void {
    if (this.#isShutDown) return;
    this.addAfter(key, this.#rateLimiter.nextDelayMs(key));
  }

  /** Resets the retry count; call it when the work on `key` succeeded or was abandoned. Does not dequeue it. */
  forget(key: K): void {
    this.#rateLimiter.forget(key);
  }

  /** Number of `addRateLimited` calls for `key` since `forget`. */
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

  /** The worker has finished with `key`, successfully or not. */
  done(key: K): void {
    assert(this.#taken.delete(key), "a key that is done was taken");
    if (this.#wanted.has(key)) this.#lineUp(key);
  }

  /** Rejects further adds and drops delayed keys. Workers receive the queued keys, and then `undefined`. */
  shutDown(): void {
    this.#isShutDown = true;
    for (const { cancel } of this.#delayed.values()) cancel.abort(NOT_NEEDED);
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
