/**
 * Work by name: a name that is added while it waits is worked on once, one that is added while it is worked on is worked on again. Failures
 * are logged and retried with exponential backoff. One name at a time, or all at once.
 */
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";

const RETRY_DELAY = { minMs: 50, maxMs: 30_000 };

export interface NamedQueueOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** For the log: "Updating the status". */
  readonly what: string;
  /** True: names do not wait for each other. */
  readonly isConcurrent?: boolean;
}

export class NamedQueue {
  readonly #options: NamedQueueOptions;
  readonly #work: (name: string, signal: AbortSignal) => Promise<void>;
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #stop = new AbortController();

  constructor(options: NamedQueueOptions, work: (name: string, signal: AbortSignal) => Promise<void>) {
    this.#options = options;
    this.#work = work;
  }

  add(name: string): void {
    this.#waiting.add(name);
    this.#startNext();
  }

  close(): void {
    this.#waiting.clear();
    this.#stop.abort();
  }

  #startNext(): void {
    for (const name of this.#waiting) {
      if (this.#stop.signal.aborted) return;
      if (this.#running.size > 0 && this.#options.isConcurrent !== true) return;
      if (this.#running.has(name)) continue;
      this.#waiting.delete(name);
      this.#running.add(name);
      void this.#run(name);
    }
  }

  async #run(name: string): Promise<void> {
    const { clock, log, what } = this.#options;
    const { signal } = this.#stop;
    try {
      // Not within the notification that added it.
      await Promise.resolve();
      await this.#work(name, signal);
      this.#failures.delete(name);
    } catch (error) {
      if (signal.aborted) return;
      const failures = this.#failures.get(name) ?? 0;
      this.#failures.set(name, failures + 1);
      log.warn(`${what} failed; retrying`, { name, error });
      void clock.sleep(exponentialDelayMs(RETRY_DELAY, failures), signal).then(
        () => this.add(name),
        () => undefined,
      );
    } finally {
      this.#running.delete(name);
      this.#startNext();
    }
  }
}
