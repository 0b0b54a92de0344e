/**
 * A streamed answer on its way to one client. What is written during an event-loop tick is sent at its end in one write. The same
 * chunk goes to many clients, so on HTTP/1.1 its frame (length before, line break after) is made once and kept with it, and goes
 * past Node's own framing straight to the socket.
 *
 * Node is handed a bounded piece at a time, the next when the socket has taken it: TLS encrypts all that it is handed at once, into a copy
 * for this client alone, so that a thousand clients that do not read would cost a thousand copies of one large event.
 */
import type { Writable } from "node:stream";
import { Fifo } from "../../base/fifo.ts";
import type { HttpChunk, HttpSink } from "./contract.ts";
import { STREAM_PIECE_BYTES_MAX } from "./limits.ts";
import type { Flushable, EndOfTick } from "./end-of-tick.ts";

/** Output of a sink. */
export interface SinkTarget {
  /** Accepts bytes. On HTTP/1.1 the socket, otherwise the response stream. */
  readonly out: Writable;
  /** True if `out` needs HTTP/1.1 framing around each chunk. */
  readonly framed: boolean;
  end(): void;
  abort(): void;
}

export class NodeSink implements HttpSink, Flushable {
  readonly #target: SinkTarget;
  readonly #endOfTick: EndOfTick;
  #queue = new Fifo<Uint8Array>();
  /** Rest of a chunk that exceeded one piece; sent before the queue. */
  #rest: Uint8Array | undefined;
  #queuedBytes = 0;
  /** Passed to Node, not flushed yet. */
  #inFlightBytes = 0;
  #isFlushScheduled = false;
  /** "ending": ends when everything is flushed. */
  #state: "open" | "ending" | "ended" | "closed" = "open";
  #closed: (() => void)[] = [];
  #drained: (() => void)[] = [];
  /** One function for all writes, so that none is allocated per write. */
  readonly #taken = () => {
    this.#inFlightBytes = 0;
    if (this.#queuedBytes > 0) this.#send();
    else if (this.#state === "ending") this.#endTarget();
    else if (this.#state === "open") for (const listener of this.#drained) listener();
  };

  constructor(target: SinkTarget, endOfTick: EndOfTick) {
    this.#target = target;
    this.#endOfTick = endOfTick;
  }

  write(chunk: HttpChunk): number {
    if (this.#state !== "open") return 0;
    // On HTTP/1.1 an empty chunk would be the end.
    if (chunk.bytes.length > 0) {
      const bytes = this.#target.framed ? frameOf(chunk) : chunk.bytes;
      this.#queue.push(bytes);
      this.#queuedBytes += bytes.length;
      if (!this.#isFlushScheduled && this.#inFlightBytes === 0) {
        this.#isFlushScheduled = true;
        this.#endOfTick.flushAtEnd(this);
      }
    }
    // Bytes in flight are held twice: as written, and encrypted.
    return this.#queuedBytes + 2 * this.#inFlightBytes;
  }

  flush(): void {
    this.#isFlushScheduled = false;
    if (this.#inFlightBytes === 0 && this.#queuedBytes > 0) this.#send();
  }

  #send(): void {
    const bytes = this.#nextPiece();
    this.#queuedBytes -= bytes.length;
    this.#inFlightBytes = bytes.length;
    this.#target.out.write(bytes, this.#taken);
  }

  /** As many chunks as fit; of one that does not fit, its beginning. */
  #nextPiece(): Uint8Array {
    const first = this.#rest ?? this.#queue.shift() ?? new Uint8Array();
    this.#rest = undefined;
    if (first.length > STREAM_PIECE_BYTES_MAX) {
      this.#rest = first.subarray(STREAM_PIECE_BYTES_MAX);
      return first.subarray(0, STREAM_PIECE_BYTES_MAX);
    }
    const pieces = [first];
    let sizeBytes = first.length;
    for (let next = this.#queue.peek(); next !== undefined; next = this.#queue.peek()) {
      sizeBytes += next.length;
      if (sizeBytes > STREAM_PIECE_BYTES_MAX) break;
      pieces.push(next);
      this.#queue.shift();
    }
    return this.#endOfTick.joined(pieces);
  }

  end(): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    this.flush();
    if (this.#inFlightBytes === 0) this.#endTarget();
  }

  #endTarget(): void {
    this.#state = "ended";
    this.#target.end();
  }

  abort(): void {
    if (this.#state === "closed") return;
    this.#clear();
    this.#state = "ended";
    this.#target.abort();
  }

  onClosed(listener: () => void): void {
    if (this.#state === "closed") listener();
    else this.#closed.push(listener);
  }

  onDrained(listener: () => void): void {
    this.#drained.push(listener);
  }

  /** Called by the exchange when its connection or stream has ended. */
  over(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#clear();
    const listeners = this.#closed;
    this.#closed = [];
    for (const listener of listeners) listener();
  }

  #clear(): void {
    this.#queue = new Fifo();
    this.#rest = undefined;
    this.#queuedBytes = 0;
  }
}

const LINE_BREAK = Buffer.from("\r\n");

function frameOf(chunk: HttpChunk): Uint8Array {
  chunk.framed ??= Buffer.concat([Buffer.from(`${chunk.bytes.length.toString(16)}\r\n`, "latin1"), chunk.bytes, LINE_BREAK]);
  return chunk.framed;
}

/** For a disconnected client, or a HEAD request. */
export const closedSink: HttpSink = {
  write: () => 0,
  end() {},
  abort() {},
  onClosed: (listener) => listener(),
  onDrained() {},
};
