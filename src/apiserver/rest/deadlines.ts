/**
 * Timeouts of requests. Nearly all have the same timeout, so they are in one queue in order of arrival, and one timer watches the oldest: a
 * request costs an entry and no timer of its own. An expired request is aborted; whether it was still in time is decided at the commit.
 */
import type { Clock } from "../../base/clock.ts";
import { Fifo } from "../../base/fifo.ts";
import { timeoutError, type StatusError } from "../../api/machinery/status-error.ts";

export interface Deadline {
  /** The request has finished; it will not be aborted. */
  clear(): void;
}

interface Waiting {
  readonly dueMs: number;
  /** Called with the reason when the deadline expires. Undefined: the request has finished, and is not retained. */
  cancel: ((reason: StatusError) => void) | undefined;
}

export class Deadlines {
  readonly #clock: Clock;
  readonly #defaultMs: number;
  readonly #queue = new Fifo<Waiting>();
  readonly #stop = new AbortController();
  #isWatching = false;

  constructor(clock: Clock, defaultMs: number) {
    this.#clock = clock;
    this.#defaultMs = defaultMs;
  }

  /** `timeoutMs`: the client's timeout; never more than the server's own. 0 or less: the server's, as upstream. */
  start(timeoutMs: number | undefined, cancel: (reason: StatusError) => void): Deadline {
    if (timeoutMs !== undefined && timeoutMs > 0 && timeoutMs < this.#defaultMs) return this.#startAlone(timeoutMs, cancel);
    const waiting: Waiting = { dueMs: this.#clock.monotonic() + this.#defaultMs, cancel };
    this.#queue.push(waiting);
    if (!this.#isWatching) void this.#watch();
    return { clear: () => this.#done(waiting) };
  }

  close(): void {
    this.#stop.abort();
  }

  /** Most requests finish in order of arrival, so hardly any stays in the queue until its deadline. */
  #done(waiting: Waiting): void {
    waiting.cancel = undefined;
    for (let oldest = this.#queue.peek(); oldest !== undefined && oldest.cancel === undefined; oldest = this.#queue.peek()) {
      this.#queue.shift();
    }
  }

  #startAlone(timeoutMs: number, cancel: (reason: StatusError) => void): Deadline {
    const timer = new AbortController();
    void this.#clock.sleep(timeoutMs, timer.signal).then(
      () => cancel(tooLate()),
      () => undefined, // It finished in time.
    );
    return { clear: () => timer.abort() };
  }

  /** Checks the oldest request only; no timer runs while the queue is empty. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    for (let oldest = this.#queue.peek(); oldest !== undefined; oldest = this.#queue.peek()) {
      const leftMs = oldest.dueMs - this.#clock.monotonic();
      if (oldest.cancel === undefined || leftMs <= 0) {
        this.#queue.shift();
        oldest.cancel?.(tooLate());
        continue;
      }
      try {
        await this.#clock.sleep(leftMs, this.#stop.signal);
      } catch {
        break; // Called when the server stops.
      }
    }
    this.#isWatching = false;
  }
}

export function tooLate(): StatusError {
  return timeoutError("request did not complete within the allotted timeout");
}
