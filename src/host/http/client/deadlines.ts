/**
 * Timeouts of responses. All have the same duration, so they are in order of arrival and one timer watches the oldest: a request costs an
 * entry in a set and no timer of its own.
 */
import type { Clock } from "../../../base/clock.ts";

interface Awaited {
  readonly dueMs: number;
  readonly late: () => void;
}

export class ClientDeadlines {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #awaited = new Set<Awaited>();
  readonly #stop = new AbortController();
  #isWatching = false;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Calls `late` after the timeout, unless the returned function was called before. */
  start(late: () => void): () => void {
    const awaited: Awaited = { dueMs: this.#clock.monotonic() + this.#timeoutMs, late };
    this.#awaited.add(awaited);
    if (!this.#isWatching) void this.#watch();
    return () => void this.#awaited.delete(awaited);
  }

  close(): void {
    this.#stop.abort();
  }

  /** Sleeps at least until the oldest is due, and ends when none is pending. */
  async #watch(): Promise<void> {
    this.#isWatching = true;
    try {
      for (let oldest = this.#first(); oldest !== undefined; oldest = this.#first()) {
        const leftMs = oldest.dueMs - this.#clock.monotonic();
        if (leftMs > 0) {
          await this.#clock.sleep(leftMs, this.#stop.signal);
          continue;
        }
        this.#awaited.delete(oldest);
        oldest.late();
      }
    } catch {
      // The client was closed.
    }
    this.#isWatching = false;
  }

  #first(): Awaited | undefined {
    for (const awaited of this.#awaited) return awaited;
    return undefined;
  }
}
