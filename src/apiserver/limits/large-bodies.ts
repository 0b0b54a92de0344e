/**
 * Requests with large bodies, which cost more than others: only a few are processed at a time, and between slices of work they pause as
 * long as they worked, so that other requests get the event loop. Users are served round robin, so a user who sends many bodies waits only
 * for their own. A body waits for a slot after it has been received: a slow client must not block others. Small requests bypass this. Not
 * here: how much memory bodies may take (body-memory.ts), how many requests a user may have in flight at all (pipeline.ts).
 */
import { onAbort, type CancelSignal } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { tooManyRequests } from "../../api/machinery/status-error.ts";
import type { Metrics } from "../framework/metrics.ts";

/** A body above this size is large. Nearly all are smaller; status patches of nodes, the largest frequent ones, have about 15 KiB. */
export const LARGE_BODY_BYTES = 32 * 1024;
/** YAML costs more than ten times as much to parse as JSON, and hardly any client sends it: kubectl sends JSON with its media type. */
export const LARGE_YAML_BYTES = 1024;

/** Maximum number of waiting requests per user. Their bodies are in memory, and the last one may wait for all before it. */
const WAITING_PER_USER_MAX = 100;

/** Requests processed at once: more than one, so that one that waits for the store or a webhook does not block all others. */
const WORKING_MAX = 2;

/** Work that is too short for a pause. */
const REST_AFTER_MS = 2;

const RETRY_AFTER_SECONDS = 1;

interface Waiting {
  start(): void;
}

/** Waiting requests by user, in round-robin order: the first user's first request is next. */
class Turns<T> {
  readonly #byUser = new Map<string, T[]>();

  of(user: string): readonly T[] {
    return this.#byUser.get(user) ?? [];
  }

  add(user: string, waiting: T): void {
    const own = this.#byUser.get(user);
    if (own === undefined) this.#byUser.set(user, [waiting]);
    else own.push(waiting);
  }

  remove(user: string, waiting: T): void {
    const own = this.#byUser.get(user) ?? [];
    const index = own.indexOf(waiting);
    if (index !== -1) own.splice(index, 1);
    if (own.length === 0) this.#byUser.delete(user);
  }

  /** The next request in round-robin order. Its user moves to the end. */
  takeFirst(): T | undefined {
    for (const [user, own] of this.#byUser) {
      const waiting = own.shift();
      this.#byUser.delete(user);
      if (own.length > 0) this.#byUser.set(user, own);
      return waiting;
    }
    return undefined;
  }
}

/** One request with a large body in progress. */
export interface LargeBody {
  /** Between slices of work: yields for as long as this request has worked. */
  yieldLoop(): Promise<void>;
  /** At the end. A second call does nothing. */
  release(): void;
}

export class LargeBodies {
  readonly #rests: boolean;
  readonly #clock: Clock;
  readonly #metrics: Pick<Metrics, "rejected">;
  #working = 0;
  readonly #waiting = new Turns<Waiting>();
  /** The next slice of work does not begin before. */
  #restUntilMs = 0;

  /** `rests`: false under virtual time. */
  constructor(clock: Clock, metrics: Pick<Metrics, "rejected">, { rests }: { readonly rests: boolean }) {
    this.#rests = rests;
    this.#clock = clock;
    this.#metrics = metrics;
  }

  /**
   * Waits for a slot for a body that has been received. Rejects with 429 if too many of this user's requests wait, and with the signal's
   * reason.
   */
  async startWork(user: string, signal: CancelSignal): Promise<LargeBody> {
    if (this.#waiting.of(user).length >= WAITING_PER_USER_MAX) {
      this.#metrics.rejected++;
      throw tooManyRequests("Too many requests, please try again later.", RETRY_AFTER_SECONDS);
    }
    await this.#wait(user, signal);
    await this.#rested();
    return this.#body();
  }

  #body(): LargeBody {
    let isReleased = false;
    let sliceStartMs = this.#clock.monotonic();
    return {
      yieldLoop: async () => {
        await this.#rest(this.#clock.monotonic() - sliceStartMs);
        sliceStartMs = this.#clock.monotonic();
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        this.#working--;
        this.#startNext();
      },
    };
  }

  /** Resolves when this request acquires a slot, possibly immediately. */
  #wait(user: string, signal: CancelSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting = { start: () => (stop(), resolve()) };
      const stop = onAbort(signal, () => {
        this.#waiting.remove(user, waiting);
        reject(signal.reason);
      });
      if (signal.aborted) return;
      this.#waiting.add(user, waiting);
      this.#startNext();
    });
  }

  #startNext(): void {
    while (this.#working < WORKING_MAX) {
      const next = this.#waiting.takeFirst();
      if (next === undefined) return;
      this.#working++;
      next.start();
    }
  }

  async #rest(workedMs: number): Promise<void> {
    if (!this.#rests) return;
    const nowMs = this.#clock.monotonic();
    if (workedMs >= REST_AFTER_MS) this.#restUntilMs = Math.max(this.#restUntilMs, nowMs) + workedMs;
    await new Promise<void>((resolve) => this.#clock.soon(resolve));
    await this.#rested();
  }

  async #rested(): Promise<void> {
    for (;;) {
      const remainingMs = this.#restUntilMs - this.#clock.monotonic();
      if (remainingMs <= 0) return;
      await this.#clock.sleep(remainingMs);
    }
  }
}
