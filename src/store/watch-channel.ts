/**
 * Delivers changes to one listener, the same on all drivers: in order, one call at a time, with a bounded backlog while the listener is
 * busy, and one last call with the reason of the end. Finding the changes is the driver's work.
 */
import type { Clock } from "../base/clock.ts";
import { WATCH_BACKLOG_MAX, type Change, type WatchEnd, type WatchListener } from "./store.ts";

export class WatchChannel {
  readonly #listener: WatchListener;
  readonly #clock: Clock;
  readonly #whenClosed: () => void;
  #backlog: Change[] = [];
  #progress: number | undefined;
  #busy = false;
  /** Whether it is about to be seen if the listener is too slow. */
  #judging = false;
  #closed = false;
  #whenIdle: (() => void) | undefined;

  /** `whenClosed` is called once, before the listener's `ended`, however the watch ends: drivers release the watch there. */
  constructor(listener: WatchListener, clock: Clock, whenClosed: () => void = () => undefined) {
    this.#listener = listener;
    this.#clock = clock;
    this.#whenClosed = whenClosed;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Whether the listener is still busy with earlier changes. */
  get busy(): boolean {
    return this.#busy;
  }

  /** Calls `work` when the listener is idle: at once if it already is, never if the watch ends before. One at a time. */
  onceIdle(work: () => void): void {
    if (this.#closed) return;
    if (this.#busy) this.#whenIdle = work;
    else work();
  }

  push(changes: readonly Change[]): void {
    if (this.#closed || changes.length === 0) return;
    if (!this.#busy) return this.#deliver(changes);
    for (const change of changes) this.#backlog.push(change);
    if (this.#backlog.length > WATCH_BACKLOG_MAX) this.#judgeSoon();
  }

  /** Notifies the listener that all changes up to `revision` were pushed, once it has taken them. */
  progress(revision: number): void {
    if (this.#closed) return;
    if (this.#busy) this.#progress = revision;
    else this.#notifyProgress(revision);
  }

  #notifyProgress(revision: number): void {
    try {
      this.#listener.progress?.(revision);
    } catch (error) {
      this.end({ reason: "failed", error });
    }
  }

  /** Deferred: a listener whose promise is already resolved cannot take more before this tick is over. */
  #judgeSoon(): void {
    if (this.#judging) return;
    this.#judging = true;
    this.#clock.soon(() => {
      this.#judging = false;
      if (this.#busy && this.#backlog.length > WATCH_BACKLOG_MAX) this.end({ reason: "slow" });
    });
  }

  end(end: WatchEnd): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#backlog = [];
    this.#whenIdle = undefined;
    this.#whenClosed();
    try {
      this.#listener.ended(end);
    } catch (error) {
      // Thrown where no other work is affected, and where the process reports it.
      this.#clock.soon(() => {
        throw error;
      });
    }
  }

  #deliver(changes: readonly Change[]): void {
    this.#busy = true;
    try {
      const taken = this.#listener.changes(changes);
      if (taken !== undefined) return this.#deliverAfter(taken);
    } catch (error) {
      return this.end({ reason: "failed", error });
    }
    this.#resume();
  }

  #deliverAfter(taken: Promise<void>): void {
    taken.then(
      () => this.#resume(),
      (error: unknown) => this.end({ reason: "failed", error }),
    );
  }

  /** After a call of the listener: the backlog, then progress, then the waiter. */
  #resume(): void {
    this.#busy = false;
    if (this.#closed) return;
    if (this.#backlog.length > 0) {
      const backlog = this.#backlog;
      this.#backlog = [];
      return this.#deliver(backlog);
    }
    const progress = this.#progress;
    this.#progress = undefined;
    if (progress !== undefined) this.#notifyProgress(progress);
    if (this.#closed) return;
    const whenIdle = this.#whenIdle;
    this.#whenIdle = undefined;
    whenIdle?.();
  }
}
