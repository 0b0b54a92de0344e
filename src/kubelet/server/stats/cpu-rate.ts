/**
 * Current CPU usage rate of a machine from a cumulative counter: the difference since the last call, if that is recent. Otherwise two
 * samples are taken in short succession; there is no sampling between calls.
 */
import type { Clock } from "../../../base/clock.ts";

/**
 * Minimum interval: the kernel counts in hundredths of a second, so a shorter difference is mostly rounding. Within it the last result is
 * returned.
 */
const WHILE_MIN_MS = 1_000;
/** Maximum interval: older usage does not describe the current rate. */
const WHILE_MAX_MS = 60_000;
/** Interval between two samples of one call: unnoticeable for the caller, and accurate to a twentieth of a core. */
const LOOK_AGAIN_MS = 200;

interface Look {
  readonly atMs: number;
  readonly nanoseconds: number;
}

export class CpuRate {
  readonly #clock: Clock;
  readonly #nanoseconds: () => Promise<number>;
  #last: Look | undefined;
  #nanocores: number | undefined;

  constructor(clock: Clock, nanoseconds: () => Promise<number>) {
    this.#clock = clock;
    this.#nanoseconds = nanoseconds;
  }

  /** In nanocores. */
  async nanocores(): Promise<number> {
    const { atMs = -Infinity } = this.#last ?? {};
    const agoMs = this.#clock.monotonic() - atMs;
    if (this.#nanocores !== undefined && agoMs < WHILE_MIN_MS) return this.#nanocores;
    const before = this.#last !== undefined && agoMs >= WHILE_MIN_MS && agoMs <= WHILE_MAX_MS ? this.#last : await this.#lookFirst();
    const now = await this.#look();
    this.#last = now;
    this.#nanocores = rateOf(before, now);
    return this.#nanocores;
  }

  async #lookFirst(): Promise<Look> {
    const look = await this.#look();
    await this.#clock.sleep(LOOK_AGAIN_MS);
    return look;
  }

  async #look(): Promise<Look> {
    return { nanoseconds: await this.#nanoseconds(), atMs: this.#clock.monotonic() };
  }
}

function rateOf(before: Look, now: Look): number {
  const seconds = (now.atMs - before.atMs) / 1_000;
  return seconds <= 0 ? 0 : Math.max(0, Math.round((now.nanoseconds - before.nanoseconds) / seconds));
}
