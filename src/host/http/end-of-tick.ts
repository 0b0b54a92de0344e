/** Defers work to the end of the current event-loop tick, with one timer for all sinks. */

export interface Flushable {
  flush(): void;
}

export class EndOfTick {
  #waiting: Flushable[] = [];

  /** Each at most once per event-loop tick: the caller keeps track. */
  flushAtEnd(flushable: Flushable): void {
    if (this.#waiting.push(flushable) === 1) setImmediate(() => this.#flushAll());
  }

  #flushAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const flushable of waiting) flushable.flush();
  }
}
