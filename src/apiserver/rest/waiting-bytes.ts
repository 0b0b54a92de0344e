/**
 * What waits in this process for all clients of watches together. Each client has a limit of its own (watch-stream.ts); a thousand slow
 * ones would still be too much, so above this sum those who have taken nothing for the longest time are cut off: a client that reads, and
 * is only behind for a moment, does not pay for those who never read.
 */

/** A quarter of what a small machine has to spare, with what Node keeps beside it, and enough for many clients in a bad moment. */
const WAITING_BYTES_TOTAL_MAX = 128 * 1024 * 1024;

export interface WaitingClient {
  /** What waits for it now. `hasTaken`: it has read something since the last call. */
  set(bytes: number, hasTaken: boolean): void;
}

interface Entry {
  bytes: number;
  readonly cutOff: () => void;
}

export class WaitingBytes {
  readonly #max: number;
  #total = 0;
  /** Those for whom something waits; who has taken nothing for the longest time is first. */
  readonly #waiting = new Set<Entry>();

  constructor(max = WAITING_BYTES_TOTAL_MAX) {
    this.#max = max;
  }

  /** One client's part. `cutOff` is called at most once, and the client counts no more. */
  client(cutOff: () => void): WaitingClient {
    const entry: Entry = { bytes: 0, cutOff };
    return {
      set: (bytes, hasTaken) => {
        this.#total += bytes - entry.bytes;
        entry.bytes = bytes;
        if (bytes === 0 || hasTaken) this.#waiting.delete(entry);
        if (bytes > 0) this.#waiting.add(entry);
        if (this.#total > this.#max) this.#shrink();
      },
    };
  }

  #shrink(): void {
    for (const entry of this.#waiting) {
      if (this.#total <= this.#max) return;
      this.#waiting.delete(entry);
      this.#total -= entry.bytes;
      entry.bytes = 0;
      entry.cutOff();
    }
  }
}
