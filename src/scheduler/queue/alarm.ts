/** A timer for the earliest of many deadlines: one sleep at a time. */
import type { Clock } from "../../base/clock.ts";

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #sleep: AbortController | undefined;
  #setForMs = Number.POSITIVE_INFINITY;
  #isDisposed = false;

  /** `ring` must not throw, and sets the timer again if more is pending. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Fires at this monotonic time, or earlier if already set so. */
  ringBy(atMs: number): void {
    if (atMs >= this.#setForMs || this.#isDisposed) return;
    this.#sleep?.abort();
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#setForMs = atMs;
    const wake = () => {
      if (this.#sleep !== sleep) return;
      this.#sleep = undefined;
      this.#setForMs = Number.POSITIVE_INFINITY;
      this.#ring();
    };
    const cancelled = () => {}; // By an earlier one, or for good.
    this.#clock.sleep(atMs - this.#clock.monotonic(), sleep.signal).then(wake, cancelled);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#sleep?.abort();
    this.#sleep = undefined;
  }
}
