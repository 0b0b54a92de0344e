/**
 * Turns at something that only one can do at a time without others having to try again. It keeps nobody from going wrong, so whoever
 * takes turns must also notice (by a precondition of a commit) that somebody else was first; it only makes that rare.
 */
import type { Clock } from "../../base/clock.ts";

/** Who takes longer (a slow webhook is asked meanwhile) is not waited for, and may have to try again. */
const TURN_MS_MAX = 1_000;

export class TurnQueue {
  readonly #clock: Clock;
  /** Fulfilled when the last one that waits had its turn. */
  #last: Promise<void> = Promise.resolve();
  #length = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those who have their turn or wait for it. */
  get length(): number {
    return this.#length;
  }

  /** Resolves when it is one's turn, to how one ends it. */
  async begin(): Promise<() => void> {
    const before = this.#last;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#length += 1;
    this.#last = before.then(() => this.#untilOver(ended));
    await before;
    return end;
  }

  async #untilOver(ended: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([ended, this.#clock.sleep(TURN_MS_MAX, done.signal).catch(() => undefined)]);
    done.abort();
    this.#length -= 1;
  }
}
