/**
 * How much of its processors a machine uses now, from a counter that only says how much it has used: the difference since somebody last
 * asked, if that tells of now. Otherwise it is looked twice, shortly one after the other; nobody looks while nobody asks.
 */
import type { Clock } from "../../../base/clock.ts";

/** The kernel counts in hundredths of a second: after a shorter while the difference is mostly rounding. Within it the last answer stands. */
const WHILE_MIN_MS = 1_000;
/** What was used longer ago says nothing of now. */
const WHILE_MAX_MS = 60_000;
/** Between two looks for one answer: whoever asks does not notice, and a core is measured to within a twentieth. */
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

  /** In billionths of a core. */
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
