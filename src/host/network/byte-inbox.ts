/**
 * Queue of chunks between a synchronous producer and a slow reader. Never blocks the producer: it reports each taken chunk, and the
 * producer limits the queue.
 */
import { Fifo } from "../../base/fifo.ts";

export class ByteInbox implements AsyncIterable<Uint8Array> {
  readonly #chunks = new Fifo<Uint8Array>();
  readonly #taken: (chunk: Uint8Array) => void;
  #end: { readonly error?: Error } | undefined;
  #isDropped = false;
  #wake: (() => void) | undefined;

  /** `taken` is called once for each chunk, when it was taken or discarded. */
  constructor(taken: (chunk: Uint8Array) => void) {
    this.#taken = taken;
  }

  push(chunk: Uint8Array): void {
    if (this.#isDropped || this.#end !== undefined) return this.#taken(chunk);
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  /** Queued chunks can still be read; then it ends, or throws. The first call decides. */
  end(error?: Error): void {
    this.#end ??= error === undefined ? {} : { error };
    this.#wake?.();
  }

  /** Discards queued and future chunks. */
  drop(error?: Error): void {
    this.#isDropped = true;
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) this.#taken(chunk);
    this.end(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift();
        if (chunk !== undefined) {
          this.#taken(chunk);
          yield chunk;
        } else if (this.#end !== undefined) {
          if (this.#end.error !== undefined) throw this.#end.error;
          return;
        } else await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    } finally {
      // A reader that stops early must not block the producer.
      this.drop();
    }
  }
}
