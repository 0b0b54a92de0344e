/**
 * Alarms of the simulation. All nodes of a cluster share one instance, which has one timer, for the earliest alarm, or none without alarms:
 * thousands of idle nodes cost nothing.
 */
import type { Clock } from "../../../base/clock.ts";
import { Heap, type HeapEntry } from "../../../base/heap.ts";

interface Alarm {
  readonly atMs: number;
  /** Alarms of the same instant ring in the order in which they were set. */
  readonly sequence: number;
  readonly ring: () => void;
}

/** Key for cancelling it. */
export type AlarmSeat = HeapEntry<unknown>;

export class Alarms {
  readonly #clock: Clock;
  readonly #alarms = new Heap<Alarm>((a, b) => a.atMs - b.atMs || a.sequence - b.sequence);
  #sequence = 0;
  #sleep: { readonly wakeAtMs: number; readonly stop: AbortController } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `ring` once, at the given instant or, if that is past, as soon as a timer can; never before this returns. It must not throw. */
  at(atMs: number, ring: () => void): AlarmSeat {
    const seat = this.#alarms.push({ atMs, sequence: this.#sequence++, ring });
    this.#sleepOn();
    return seat;
  }

  /** No effect on an alarm that has rung. */
  cancel(seat: AlarmSeat): void {
    this.#alarms.remove(seat as HeapEntry<Alarm>);
    this.#sleepOn();
  }

  /** Sleeps no longer than until the earliest alarm. Waking too early, after that one was cancelled, is harmless. */
  #sleepOn(): void {
    const next = this.#alarms.peek();
    if (next !== undefined && this.#sleep !== undefined && this.#sleep.wakeAtMs <= next.atMs) return;
    this.#sleep?.stop.abort();
    this.#sleep = next && this.#sleepUntil(next.atMs);
  }

  #sleepUntil(wakeAtMs: number): { readonly wakeAtMs: number; readonly stop: AbortController } {
    const stop = new AbortController();
    void this.#clock.sleep(wakeAtMs - this.#clock.now(), stop.signal).then(
      () => {
        if (this.#sleep?.stop === stop) this.#wake();
      },
      () => undefined, // Only ever because of `stop`.
    );
    return { wakeAtMs, stop };
  }

  #wake(): void {
    this.#sleep = undefined;
    const nowMs = this.#clock.now();
    for (let next = this.#alarms.peek(); next !== undefined && next.atMs <= nowMs; next = this.#alarms.peek()) {
      this.#alarms.pop();
      next.ring();
    }
    this.#sleepOn();
  }
}
