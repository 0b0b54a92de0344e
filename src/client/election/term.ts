/**
 * One term of leadership, from acquiring the Lease to its end. It expires by itself when the Lease was not renewed for the renew deadline,
 * by the candidate's own clock, which is before any other candidate may acquire it.
 */
import type { Clock } from "../../base/clock.ts";

export class Term {
  readonly #clock: Clock;
  readonly #renewDeadlineMs: number;
  readonly #leading = new AbortController();
  readonly #lost = new AbortController();
  #renewedAtMs: number;

  /** `sinceMs`: monotonic time, not later than any other candidate can have observed the acquisition. */
  constructor({ clock, renewDeadlineMs, sinceMs }: { readonly clock: Clock; readonly renewDeadlineMs: number; readonly sinceMs: number }) {
    this.#clock = clock;
    this.#renewDeadlineMs = renewDeadlineMs;
    this.#renewedAtMs = sinceMs;
  }

  /** Aborted when the term is over. */
  get signal(): AbortSignal {
    return this.#leading.signal;
  }

  /** Aborted when the Lease is, or may soon be, another candidate's. A term that is over and not lost still holds it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLost(): boolean {
    return this.lost.aborted;
  }

  /** Duration of the term without renewal. */
  get leftMs(): number {
    return this.#renewedAtMs + this.#renewDeadlineMs - this.#clock.monotonic();
  }

  /** Also correct in a process that was suspended and has not run its timers yet. */
  isLeading(): boolean {
    return !this.#leading.signal.aborted && this.leftMs > 0;
  }

  renewed(sinceMs: number): void {
    this.#renewedAtMs = sinceMs;
  }

  /** Stops leading and keeps the Lease. */
  end(why: string): void {
    this.#leading.abort(new Error(why));
  }

  lose(why: string): void {
    this.#lost.abort(new Error(why));
    this.end(why);
  }
}
