/**
 * Serialises work that would otherwise conflict and be retried. It is no lock: a caller must still detect conflicts (by a precondition of
 * its commit); the queue only makes them rare.
 */
import type { Clock } from "../../base/clock.ts";

/** The queue does not wait longer for a caller (that calls a slow webhook, say); the next one starts and may have to retry. */
const HOLD_MS_MAX = 1_000;

export class SerialQueue {
  readonly #clock: Clock;
  /** Fulfilled when the last waiting caller has finished. */
  #last: Promise<void> = Promise.resolve();
  #length = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Callers that run or wait. */
  get length(): number {
    return this.#length;
  }

  /** Resolves when the caller may run, to the function that releases the queue. */
  async begin(): Promise<() => void> {
    const before = this.#last;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#length += 1;
    this.#last = before.then(() => this.#untilReleased(ended));
    await before;
    return end;
  }

  async #untilReleased(ended: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([ended, this.#clock.sleep(HOLD_MS_MAX, done.signal).catch(() => undefined)]);
    done.abort();
    this.#length -= 1;
  }
}
