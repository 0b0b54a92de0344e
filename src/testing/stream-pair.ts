/**
 * Two ByteStreams that are each other's other side, in memory: what one writes the other reads. A writer is held up by a reader who does
 * not read, as over a socket with a small buffer.
 */
import type { ByteStream } from "../base/byte-stream.ts";
import { ByteInbox } from "../host/byte-inbox.ts";

/** What may wait on the way before the writer is held up. */
const BUFFER_BYTES = 64 << 10;

export function streamPair(): readonly [ByteStream, ByteStream] {
  const there = new Way();
  const back = new Way();
  const closed = Promise.all([there.over, back.over]).then(() => undefined);
  const side = (out: Way, into: Way): ByteStream => ({
    input: into.inbox,
    write: (chunk) => out.write(chunk),
    end: () => out.end(),
    abort() {
      out.cut();
      into.cut();
    },
    closed,
  });
  return [side(there, back), side(back, there)];
}

/** All that comes, as one. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks);
}

class Way {
  readonly over: Promise<void>;
  readonly inbox = new ByteInbox((chunk) => this.#taken(chunk.length));
  #waitingBytes = 0;
  #isOver = false;
  #finish: () => void = () => undefined;
  #writers: { resolve: () => void; reject: (error: Error) => void }[] = [];

  constructor() {
    this.over = new Promise((resolve) => (this.#finish = resolve));
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#isOver) return Promise.reject(new Error("The pair was ended"));
    this.#waitingBytes += chunk.length;
    this.inbox.push(chunk);
    if (this.#waitingBytes <= BUFFER_BYTES) return Promise.resolve();
    return new Promise((resolve, reject) => this.#writers.push({ resolve, reject }));
  }

  end(): void {
    this.#isOver = true;
    this.inbox.end();
    this.#finish();
  }

  cut(): void {
    this.#isOver = true;
    const error = new Error("The pair was cut");
    for (const { reject } of this.#writers.splice(0)) reject(error);
    this.inbox.drop(error);
    this.#finish();
  }

  #taken(bytes: number): void {
    this.#waitingBytes -= bytes;
    if (this.#waitingBytes <= BUFFER_BYTES) for (const { resolve } of this.#writers.splice(0)) resolve();
  }
}
