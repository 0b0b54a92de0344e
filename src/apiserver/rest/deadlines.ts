/**
 * How long requests may take. Nearly all have the same time, so they stand in one queue in the order of coming, and one timer watches the
 * oldest: a request costs an entry and no timer of its own. What is late is aborted; whether it was still in time is for the commit to say.
 */
import type { Clock } from "../../base/clock.ts";
import { Fifo } from "../../base/fifo.ts";
import { timeoutError, type StatusError } from "../../api/machinery/status-error.ts";

export interface Deadline {
  /** The request is done; nothing will be aborted. */
  clear(): void;
}

interface Waiting {
  readonly dueMs: number;
  /** Told why, when it is too late. Undefined: it is done, and nothing of the request is kept. */
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

  /** `timeoutMs`: as the client asked; never more than the server's own. 0 or less: the client does not care, as upstream has it. */
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

  /** Most are done in the order of their coming, so hardly any stays in the queue until its time. */
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
      () => undefined, // It was done in time.
    );
    return { clear: () => timer.abort() };
  }

  /** Looks at the oldest only, and not at all while there is none. */
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
        break; // The server stops.
      }
    }
    this.#isWatching = false;
  }
}

export function tooLate(): StatusError {
  return timeoutError("request did not complete within the allotted timeout");
}
