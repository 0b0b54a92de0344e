/**
 * Wakes whoever waits for a moment of the simulation. All nodes of a cluster share one, and it has one timer, of the earliest moment, or
 * none if nobody waits: thousands of nodes on which nothing is about to happen cost nothing.
 */
import type { Clock } from "../../../base/clock.ts";
import { Heap, type HeapEntry } from "../../../base/heap.ts";

interface Alarm {
  readonly momentMs: number;
  /** Those of one moment ring in the order in which they were set. */
  readonly sequence: number;
  readonly ring: () => void;
}

/** For taking it back. */
export type AlarmSeat = HeapEntry<unknown>;

export class Alarms {
  readonly #clock: Clock;
  readonly #alarms = new Heap<Alarm>((a, b) => a.momentMs - b.momentMs || a.sequence - b.sequence);
  #sequence = 0;
  #sleep: { readonly wakeAtMs: number; readonly stop: AbortController } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `ring` once, at the moment or, if it is past, as soon as a timer can; never before this returns. It must not throw. */
  at(momentMs: number, ring: () => void): AlarmSeat {
    const seat = this.#alarms.push({ momentMs, sequence: this.#sequence++, ring });
    this.#sleepOn();
    return seat;
  }

  /** Does nothing to one that rang. */
  cancel(seat: AlarmSeat): void {
    this.#alarms.remove(seat as HeapEntry<Alarm>);
    this.#sleepOn();
  }

  /** Sleeps no longer than until the earliest alarm. Waking too early, since that one was taken back, does no harm. */
  #sleepOn(): void {
    const next = this.#alarms.peek();
    if (next !== undefined && this.#sleep !== undefined && this.#sleep.wakeAtMs <= next.momentMs) return;
    this.#sleep?.stop.abort();
    this.#sleep = next && this.#sleepUntil(next.momentMs);
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
    for (let next = this.#alarms.peek(); next !== undefined && next.momentMs <= nowMs; next = this.#alarms.peek()) {
      this.#alarms.pop();
      next.ring();
    }
    this.#sleepOn();
  }
}
