/** Reconciles APIServices by name: each is queued once, handled by one worker at a time, and retried with back-off after a failure. */
import type { Growth } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";

export interface KeyWorkerOptions {
  /** For logs. */
  readonly name: string;
  readonly workers: number;
  readonly retry: Growth;
  readonly clock: Clock;
  readonly log: Logger;
  /** The number is the delay until the key is reconciled again; undefined: when it is added. Rejecting retries. */
  reconcile(key: string): Promise<number | undefined>;
}

export class KeyWorker {
  readonly #options: KeyWorkerOptions;
  readonly #queue: WorkQueue<string>;
  #isRunning = false;

  constructor(options: KeyWorkerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, rateLimiter: perKeyExponential<string>(options.retry) });
  }

  add(key: string): void {
    this.#queue.add(key);
  }

  /** Keys added before are reconciled then. */
  start(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let worker = 0; worker < this.#options.workers; worker++) void this.#work();
  }

  /** Nothing is reconciled any more once the running work has ended. */
  close(): void {
    this.#queue.shutDown();
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      try {
        const againMs = await this.#options.reconcile(key);
        this.#queue.forget(key);
        if (againMs !== undefined) this.#queue.addAfter(key, againMs);
      } catch (error) {
        this.#options.log.debug(`${this.#options.name} failed; retrying`, { apiService: key, error });
        this.#queue.addRateLimited(key);
      } finally {
        this.#queue.done(key);
      }
    }
  }
}
