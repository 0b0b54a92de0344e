/** Rings when the earliest moment has come that somebody asked for: one sleep at a time, however many wait. */
import type { Clock } from "../../base/clock.ts";

export class Alarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #sleep: AbortController | undefined;
  #setForMs = Number.POSITIVE_INFINITY;
  #isDisposed = false;

  /** `ring` must not throw, and sets the alarm anew if there is more to come. */
  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at this moment of the monotonic clock, or earlier if it is set so already. */
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
