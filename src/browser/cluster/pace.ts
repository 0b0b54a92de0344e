/**
 * Lets the virtual time of a cluster pass at a chosen speed of real time. While it is paused, requests and the reactions to them still
 * happen, at the instant at which time stands still.
 */
import type { Clock } from "../../base/clock.ts";
import type { Driver } from "../../embedded/driver.ts";

/** Paused, real time, and as fast as lessons about timeouts of minutes need. */
export const SPEEDS = [0, 1, 10, 60] as const;
export type Speed = (typeof SPEEDS)[number];

/** Smooth for a reader, and rare enough that an idle cluster costs nothing. */
const TICK_MS = 50;

/** A page that was suspended, or a busy machine, does not make time jump. */
const ELAPSED_MAX_MS = 1_000;

export const STEP_MS = 1_000;

export class Pace {
  speed: Speed;
  readonly #driver: Driver;
  readonly #clock: Clock;

  /** `clock`: real time. */
  constructor(driver: Driver, clock: Clock, speed: Speed = 1) {
    this.#driver = driver;
    this.#clock = clock;
    this.speed = speed;
  }

  /** Until the signal is aborted. Rejects if time cannot pass any more. */
  async run(signal: AbortSignal): Promise<void> {
    let last = this.#clock.monotonic();
    while (!signal.aborted) {
      await this.#clock.sleep(TICK_MS, signal).catch(() => undefined);
      if (signal.aborted) return;
      const now = this.#clock.monotonic();
      const elapsedMs = Math.min(ELAPSED_MAX_MS, now - last);
      last = now;
      await this.#driver.advance(Math.round(elapsedMs * this.speed));
    }
  }

  /** One second, whatever the speed. */
  step(): Promise<void> {
    return this.#driver.advance(STEP_MS);
  }
}
