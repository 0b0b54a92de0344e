/**
 * One stream of a session: its two directions and their operations. Received data is queued for its reader; written data is sent in order,
 * split, as far as the window allows. Not here: frames and the connection (session.ts).
 */
import { ByteInbox } from "../network/byte-inbox.ts";
import type { SpdyStream } from "./contract.ts";
import { RESET } from "./frames.ts";
import type { SpdyHeaders } from "./header-blocks.ts";
import { DATA_FRAME_BYTES, WINDOW_BYTES } from "./limits.ts";
import type { SendWindow } from "./send-window.ts";

/** Interface of the session for its streams. */
export interface StreamLine {
  /** Sent after the earlier data frames of all streams. */
  sendData(streamId: number, bytes: Uint8Array, isLast: boolean): Promise<void>;
  sendReset(streamId: number, status: number): void;
  /** Sent to peers with flow control. */
  sendRoom(streamId: number, bytes: number): void;
  /** Sent before anything else for a stream of the peer. */
  sendReply(streamId: number): void;
  /** A chunk has left the inbox. */
  taken(bytes: number): void;
  /** Both directions have ended. */
  over(stream: OpenStream): void;
}

export interface StreamStart {
  readonly id: number;
  readonly headers: SpdyHeaders;
  /** Window for sending. */
  readonly window: SendWindow;
  /** Opened by the peer, so it must be answered. */
  readonly isTheirs: boolean;
}

export class OpenStream implements SpdyStream {
  readonly id: number;
  readonly headers: SpdyHeaders;
  readonly closed: Promise<void>;
  /** Accepted by the peer, or the acceptance by this side was sent. */
  isAnswered: boolean;
  isReceivingOver = false;
  readonly #line: StreamLine;
  readonly #window: SendWindow;
  readonly #inbox: ByteInbox;
  #resolveClosed: () => void = () => undefined;
  #isEnded = false;
  #isSendingOver = false;
  #failure: Error | undefined;
  /** Sequence of writes. Never rejects. */
  #writes: Promise<void> = Promise.resolve();
  #takenBytes = 0;

  constructor(line: StreamLine, { id, headers, window, isTheirs }: StreamStart) {
    this.id = id;
    this.headers = headers;
    this.#line = line;
    this.#window = window;
    this.#inbox = new ByteInbox((chunk) => this.#taken(chunk.length));
    // A stream opened by this side is usable only after the peer's reply, so it is never answered from here.
    this.isAnswered = !isTheirs;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
  }

  get input(): AsyncIterable<Uint8Array> {
    return this.#inbox;
  }

  write(chunk: Uint8Array): Promise<void> {
    if (this.#isEnded) return Promise.reject(new Error(`Cannot write to stream ${this.id}: it is closed`));
    const written = this.#writes.then(() => this.#write(chunk));
    this.#writes = written.catch(() => undefined);
    return written;
  }

  async #write(chunk: Uint8Array): Promise<void> {
    this.answer();
    for (let start = 0; start < chunk.length;) {
      const bytes = await this.#window.take(Math.min(DATA_FRAME_BYTES, chunk.length - start));
      if (this.#failure !== undefined) throw this.#failure;
      await this.#line.sendData(this.id, chunk.subarray(start, start + bytes), false);
      start += bytes;
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#writes = this.#writes.then(() => this.#sendEnd()).catch(() => undefined);
  }

  async #sendEnd(): Promise<void> {
    if (this.#isSendingOver) return;
    this.answer();
    await this.#line.sendData(this.id, new Uint8Array(), true);
    this.sendingOver();
  }

  reset(): void {
    this.resetWith(RESET.cancel);
  }

  abort(): void {
    this.resetWith(RESET.cancel);
  }

  resetWith(status: number): void {
    if (!this.#isSendingOver || !this.isReceivingOver) {
      this.isAnswered = true;
      this.#line.sendReset(this.id, status);
      this.fail(new Error(`Stream ${this.id} was reset by this side`));
    }
    this.#inbox.drop();
  }

  /** Resolves when all writes so far are flushed, or never will be. */
  written(): Promise<void> {
    return this.#writes;
  }

  /** Sends the acceptance of the peer's stream once. */
  answer(): void {
    if (this.isAnswered) return;
    this.isAnswered = true;
    this.#line.sendReply(this.id);
  }

  receive(chunk: Uint8Array): void {
    this.#inbox.push(chunk);
  }

  /** The peer sends nothing more. */
  receiveEnd(): void {
    this.isReceivingOver = true;
    this.#inbox.end();
    this.#overIfBoth();
  }

  /** The peer has extended the window. */
  addRoom(bytes: number): void {
    this.#window.add(bytes);
  }

  sendingOver(): void {
    this.#isEnded = true;
    this.#isSendingOver = true;
    this.#overIfBoth();
  }

  /** Both directions have ended. Received data can still be read. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#isEnded = true;
    this.#isSendingOver = true;
    this.isReceivingOver = true;
    this.#inbox.end(error);
    this.#window.open();
    this.#overIfBoth();
  }

  #overIfBoth(): void {
    if (!this.#isSendingOver || !this.isReceivingOver) return;
    this.#line.over(this);
    this.#resolveClosed();
  }

  #taken(bytes: number): void {
    this.#line.taken(bytes);
    this.#takenBytes += bytes;
    // Half a window at a time: one frame of ours for two or more of theirs, so that they are never blocked meanwhile.
    if (this.#takenBytes < WINDOW_BYTES / 2 || this.isReceivingOver) return;
    this.#line.sendRoom(this.id, this.#takenBytes);
    this.#takenBytes = 0;
  }
}
