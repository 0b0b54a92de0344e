/**
 * What waits in this process for all clients of watches together. Each client has a limit of its own (watch-stream.ts); a thousand slow
 * ones would still be too much, so above this sum those who are behind are let go as they are met.
 */

/** A quarter of what a small machine has to spare, and enough for a hundred clients in a bad moment. */
const WAITING_BYTES_TOTAL_MAX = 256 * 1024 * 1024;

export class WaitingBytes {
  readonly #max: number;
  #total = 0;

  constructor(max = WAITING_BYTES_TOTAL_MAX) {
    this.#max = max;
  }

  get isTooMuch(): boolean {
    return this.#total > this.#max;
  }

  /** One client's part. */
  client(): { set(bytes: number): void } {
    let own = 0;
    return {
      set: (bytes) => {
        this.#total += bytes - own;
        own = bytes;
      },
    };
  }
}
