/**
 * Defers the writes of streams to the end of the current event-loop tick, with one timer for all of them, and leaves time for other work
 * when there are many: what a thousand watchers receive is encrypted a thousand times, so sending each event at once would occupy the event
 * loop. After a flush that took long the next one waits as long again; events that arrive meanwhile go out together, in one write for each
 * client, and requests are served in between. A flush of few streams takes less than a millisecond and delays nothing.
 */

export interface Flushable {
  flush(): void;
}

/** A flush that took less does not delay the next one. */
const SHORT_FLUSH_MS = 2;

/**
 * Maximum delay of an event because of the flush before, whatever that took. With 1,000 watchers a flush takes 10 to 20 ms; with 8 ms more
 * of them are needed than one processor can do beside the clients, and 20 ms or more delay events without more of them being delivered.
 */
const PAUSE_MS_MAX = 14;

export interface EndOfTickClock {
  monotonic(): number;
  /** Calls back at the end of this event-loop tick. */
  soon(callback: () => void): void;
  after(delayMs: number, callback: () => void): void;
}

const NODE_CLOCK: EndOfTickClock = {
  monotonic: () => performance.now(),
  soon: (callback) => void setImmediate(callback),
  after: (delayMs, callback) => void setTimeout(callback, delayMs),
};

export class EndOfTick {
  readonly #clock: EndOfTickClock;
  /** Chunks that the stream before sent in one write, and that write. Until the end of the next flush. */
  #chunks: readonly Uint8Array[] = [];
  #bytes: Uint8Array = NOTHING;
  #waiting: Flushable[] = [];
  /** No flush begins before. */
  #pausedUntilMs = 0;

  constructor(clock: EndOfTickClock = NODE_CLOCK) {
    this.#clock = clock;
  }

  /** Each at most once until it is flushed: the caller keeps track. */
  flushAtEnd(flushable: Flushable): void {
    if (this.#waiting.push(flushable) > 1) return;
    const pauseMs = this.#pausedUntilMs - this.#clock.monotonic();
    if (pauseMs <= 0) this.#clock.soon(this.#flushAll);
    else this.#clock.after(Math.ceil(pauseMs), this.#flushAll);
  }

  /** The chunks as one. Streams that send the same chunks one after the other, as watchers do, share the bytes. */
  joined(chunks: readonly Uint8Array[]): Uint8Array {
    if (chunks.length === 1) return chunks[0] as Uint8Array;
    if (!hasSame(chunks, this.#chunks)) {
      this.#chunks = chunks;
      this.#bytes = Buffer.concat(chunks);
    }
    return this.#bytes;
  }

  readonly #flushAll = (): void => {
    const waiting = this.#waiting;
    this.#waiting = [];
    const startedMs = this.#clock.monotonic();
    for (const flushable of waiting) flushable.flush();
    this.#chunks = [];
    this.#bytes = NOTHING;
    const endedMs = this.#clock.monotonic();
    const tookMs = endedMs - startedMs;
    this.#pausedUntilMs = tookMs < SHORT_FLUSH_MS ? 0 : endedMs + Math.min(tookMs, PAUSE_MS_MAX);
  };
}

const NOTHING = new Uint8Array();

function hasSame(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.length === b.length && a.every((each, index) => each === b[index]);
}
