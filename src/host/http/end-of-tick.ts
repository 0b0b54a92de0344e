/** Work that is put off to the end of the present turn of the event loop, all of it with one timer, however many sinks have some. */

export interface Flushable {
  flush(): void;
}

export class Turn {
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
