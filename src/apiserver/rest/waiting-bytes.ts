/**
 * Bytes buffered in this process for all clients of watches together. Each client has a limit of its own (watch-stream.ts); a thousand slow
 * ones would still be too much, so above this total the clients that have read nothing for the longest time are disconnected: a client that
 * reads, and only lags briefly, is not affected by those that never read.
 */

/** A quarter of the memory that a small machine can spare, with Node's overhead, and enough for many clients that lag briefly. */
const WAITING_BYTES_TOTAL_MAX = 128 * 1024 * 1024;

export interface WaitingClient {
  /** The bytes buffered for it now. `hasTaken`: it has read something since the last call. */
  set(bytes: number, hasTaken: boolean): void;
}

interface Entry {
  bytes: number;
  isWaiting: boolean;
  readonly disconnect: () => void;
}

export class WaitingBytes {
  readonly #max: number;
  #total = 0;
  /** Clients with buffered bytes; the one that has read nothing for the longest time is first. */
  readonly #waiting = new Set<Entry>();

  constructor(max = WAITING_BYTES_TOTAL_MAX) {
    this.#max = max;
  }

  /** One client's share. `disconnect` is called at most once, and the client no longer counts. */
  client(disconnect: () => void): WaitingClient {
    const entry: Entry = { bytes: 0, isWaiting: false, disconnect };
    return {
      set: (bytes, hasTaken) => {
        this.#total += bytes - entry.bytes;
        entry.bytes = bytes;
        if (entry.isWaiting && (bytes === 0 || hasTaken)) this.#remove(entry);
        if (bytes > 0 && !entry.isWaiting) this.#add(entry);
        if (this.#total > this.#max) this.#shrink();
      },
    };
  }

  #add(entry: Entry): void {
    entry.isWaiting = true;
    this.#waiting.add(entry);
  }

  #remove(entry: Entry): void {
    entry.isWaiting = false;
    this.#waiting.delete(entry);
  }

  #shrink(): void {
    for (const entry of this.#waiting) {
      if (this.#total <= this.#max) return;
      this.#remove(entry);
      this.#total -= entry.bytes;
      entry.bytes = 0;
      entry.disconnect();
    }
  }
}
