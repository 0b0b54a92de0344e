/**
 * The work of a server's loop: keys, each worked on once however often it was named meanwhile, one after the other, since there is no
 * hurry that would be worth a request of somebody else; and again later if it failed. When it is closed nothing begins any more; what
 * runs may wait for a store that is gone, so nobody waits for it.
 */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { perKeyExponential } from "../../base/rate-limiter.ts";
import { WorkQueue } from "../../base/work-queue.ts";

/** Soon at first, and often enough to notice when the store is back. */
const RETRY_DELAY = { minMs: 500, maxMs: 10_000 };

export interface LoopQueueOptions {
  /** False: it is to be tried again. */
  work(key: string): Promise<boolean>;
  /** The sentence for the log when it throws. */
  readonly failure: string;
  readonly clock: Clock;
  readonly log: Logger;
}

export class LoopQueue {
  readonly #options: LoopQueueOptions;
  readonly #queue: WorkQueue<string>;
  #isClosed = false;

  constructor(options: LoopQueueOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ clock: options.clock, rateLimiter: perKeyExponential(RETRY_DELAY) });
  }

  add(key: string): void {
    this.#queue.add(key);
  }

  /** Begins to work; what was named before waits for it. */
  start(): void {
    void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#queue.shutDown();
  }

  async #run(): Promise<void> {
    for (;;) {
      const key = await this.#queue.take();
      if (key === undefined || this.#isClosed) return;
      if (await this.#isDone(key)) this.#queue.forget(key);
      else this.#queue.addRateLimited(key);
      this.#queue.done(key);
    }
  }

  async #isDone(key: string): Promise<boolean> {
    const { work, failure, log } = this.#options;
    try {
      return await work(key);
    } catch (error) {
      log.warn(`${failure}; it is tried again`, { key, error });
      return false;
    }
  }
}
