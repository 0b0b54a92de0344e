/**
 * A streamed answer on its way to one client. What is written during a turn of the loop is sent at its end in one write. The same
 * chunk goes to many clients, so on HTTP/1.1 its frame (length before, line break after) is made once and kept with it, and goes
 * past Node's own framing straight to the socket.
 */
import type { Writable } from "node:stream";
import { joined } from "./body.ts";
import type { HttpChunk, HttpSink } from "./contract.ts";
import type { Flushable, Turn } from "./turn.ts";

/** Where a sink's bytes go. */
export interface SinkTarget {
  /** Takes bytes, and counts those that wait. On HTTP/1.1 the socket, otherwise the stream of the answer. */
  readonly out: Writable;
  /** Whether `out` wants the frame of HTTP/1.1 around each chunk. */
  readonly framed: boolean;
  end(): void;
  abort(): void;
}

export class NodeSink implements HttpSink, Flushable {
  readonly #target: SinkTarget;
  readonly #turn: Turn;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #state: "open" | "ended" | "closed" = "open";
  #closed: (() => void)[] = [];
  #drained: (() => void)[] = [];
  /** One function for all writes, so that none is made per write. */
  readonly #taken = () => {
    if (this.#state === "open" && this.#pendingBytes === 0 && this.#target.out.writableLength === 0) {
      for (const listener of this.#drained) listener();
    }
  };

  constructor(target: SinkTarget, turn: Turn) {
    this.#target = target;
    this.#turn = turn;
  }

  write(chunk: HttpChunk): number {
    if (this.#state !== "open") return 0;
    // On HTTP/1.1 an empty chunk would be the end.
    if (chunk.bytes.length > 0) {
      if (this.#pending.length === 0) this.#turn.flushAtEnd(this);
      const bytes = this.#target.framed ? frameOf(chunk) : chunk.bytes;
      this.#pending.push(bytes);
      this.#pendingBytes += bytes.length;
    }
    return this.#pendingBytes + this.#target.out.writableLength;
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    const bytes = joined(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#target.out.write(bytes, this.#taken);
  }

  end(): void {
    if (this.#state !== "open") return;
    this.flush();
    this.#state = "ended";
    this.#target.end();
  }

  abort(): void {
    if (this.#state === "closed") return;
    this.#pending = [];
    this.#pendingBytes = 0;
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

  /** Called by the exchange when its connection or stream is over. */
  over(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#pending = [];
    this.#pendingBytes = 0;
    const listeners = this.#closed;
    this.#closed = [];
    for (const listener of listeners) listener();
  }
}

const LINE_BREAK = Buffer.from("\r\n");

function frameOf(chunk: HttpChunk): Uint8Array {
  chunk.framed ??= Buffer.concat([Buffer.from(`${chunk.bytes.length.toString(16)}\r\n`, "latin1"), chunk.bytes, LINE_BREAK]);
  return chunk.framed;
}

/** For a client that has gone, or that asked for the head only. */
export const closedSink: HttpSink = {
  write: () => 0,
  end() {},
  abort() {},
  onClosed: (listener) => listener(),
  onDrained() {},
};
