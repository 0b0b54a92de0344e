/**
 * One candidate's leadership, from taking the Lease to its end. It ends by itself when the Lease was not renewed for too long, by the
 * candidate's own clock, and that is before any other may take it.
 */
import type { Clock } from "../../base/clock.ts";

export class Term {
  readonly #clock: Clock;
  readonly #renewDeadlineMs: number;
  readonly #leading = new AbortController();
  readonly #lost = new AbortController();
  #renewedAtMs: number;

  /** `sinceMs`: by the monotonic clock, not later than anybody can have seen that the Lease was taken. */
  constructor({ clock, renewDeadlineMs, sinceMs }: { readonly clock: Clock; readonly renewDeadlineMs: number; readonly sinceMs: number }) {
    this.#clock = clock;
    this.#renewDeadlineMs = renewDeadlineMs;
    this.#renewedAtMs = sinceMs;
  }

  /** Aborted when it is over. */
  get signal(): AbortSignal {
    return this.#leading.signal;
  }

  /** Aborted when the Lease is, or may soon be, another's. If it is over and not lost, it is still held. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get isLost(): boolean {
    return this.lost.aborted;
  }

  /** How long it lasts if the Lease is not renewed. */
  get leftMs(): number {
    return this.#renewedAtMs + this.#renewDeadlineMs - this.#clock.monotonic();
  }

  /** Also right in a process that was stopped for a while and has not come to run its timers yet. */
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
