/**
 * SPDY/3.1 over one connection, in both roles. Frames are handled synchronously in order of arrival; data is queued in its stream, and when
 * too much is queued the connection is not read until a stream is read. That is the only backpressure for Kubernetes' own clients, which do
 * not support windows; a peer with windows is blocked per stream. A peer that violates the protocol receives GOAWAY and is disconnected;
 * one that exceeds a limit has its stream refused.
 */
import type { ByteStream } from "../../base/byte-stream.ts";
import type { SpdyOptions, SpdySession, SpdyStream } from "./contract.ts";
import { FrameDecoder } from "./frame-decoder.ts";
import { encodeFrame, GOAWAY, RESET, SETTING_INITIAL_WINDOW, type DataFrame, type Frame, type HeadersFrame } from "./frames.ts";
import { SpdyProtocolError } from "./protocol-error.ts";
import { HeaderWriter, type SpdyHeaders } from "./header-blocks.ts";
import { ANSWERS_WAITING_BYTES_MAX, CHUNK_COST_BYTES, GOODBYE_TIMEOUT_MS, STREAMS_MAX, WAITING_BYTES_MAX, WINDOW_BYTES } from "./limits.ts";
import { Pacer } from "./pacer.ts";
import { SendWindow } from "./send-window.ts";
import { OpenStream, type StreamLine } from "./stream.ts";

export function spdySession(connection: ByteStream, options: SpdyOptions): SpdySession {
  return new Session(connection, options);
}

interface Opening {
  readonly resolve: (stream: SpdyStream) => void;
  readonly reject: (error: Error) => void;
}

class Session implements SpdySession, StreamLine {
  readonly closed: Promise<void>;
  readonly #connection: ByteStream;
  readonly #isClient: boolean;
  readonly #writer = new HeaderWriter();
  readonly #streams = new Map<number, OpenStream>();
  /** Streams of this side that the peer has not answered yet. */
  readonly #openings = new Map<number, Opening>();
  readonly #windows = { initialBytes: WINDOW_BYTES, areKept: false };
  readonly #pacer = new Pacer((id) => this.#send({ is: "ping", id }));
  #nextId: number;
  #theirLastId = 0;
  #listener: ((stream: SpdyStream) => void) | undefined;
  /** Streams that were opened before there was a listener. */
  #unheard: OpenStream[] = [];
  /** Why nothing new is accepted: it is closing, the peer is, or the connection has ended. */
  #over: Error | undefined;
  #isClosing = false;
  #isGone = false;
  #waitingBytes = 0;
  #roomMade: (() => void) | undefined;
  #answersWaitingBytes = 0;
  /** Resolves when the connection has accepted the previous data frame. Never rejects. */
  #turn: Promise<void> = Promise.resolve();

  constructor(connection: ByteStream, { role }: SpdyOptions) {
    this.#connection = connection;
    this.#isClient = role === "client";
    this.#nextId = this.#isClient ? 1 : 2;
    this.closed = connection.closed;
    // Clients end a session by disconnecting, so their remaining data is not awaited.
    if (!this.#isClient) this.#pacer.off();
    this.#send({ is: "settings", values: [{ id: SETTING_INITIAL_WINDOW, value: WINDOW_BYTES }] });
    void this.#receive();
  }

  open(headers: SpdyHeaders): Promise<SpdyStream> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    if (this.#streams.size >= STREAMS_MAX) return Promise.reject(new Error(`Cannot open more than ${STREAMS_MAX} streams at once`));
    const id = this.#nextId;
    this.#nextId += 2;
    this.#streams.set(id, new OpenStream(this, { id, headers, window: new SendWindow(this.#windows), isTheirs: false }));
    const opened = new Promise<SpdyStream>((resolve, reject) => this.#openings.set(id, { resolve, reject }));
    this.#send({ is: "syn-stream", streamId: id, headers, isLast: false });
    return opened;
  }

  onStream(listener: (stream: SpdyStream) => void): void {
    this.#listener = listener;
    const unheard = this.#unheard;
    this.#unheard = [];
    for (const stream of unheard) this.#announce(stream, listener);
  }

  close(): void {
    if (this.#isClosing || this.#isGone) return;
    this.#isClosing = true;
    this.#over ??= new Error("The session is closed");
    const written = [...this.#streams.values()].map((stream) => stream.written());
    void Promise.all(written).then(() => this.#sayGoodbye(GOAWAY.ok));
    this.#giveUpLater();
  }

  abort(): void {
    this.#end(new Error("The session was aborted"));
    this.#connection.abort();
  }

  // Interface for streams.

  sendData(streamId: number, bytes: Uint8Array, isLast: boolean): Promise<void> {
    const sent = this.#turn.then(async () => {
      await this.#pacer.room();
      // Its stream may have been reset while it was queued.
      if (!this.#streams.has(streamId) || this.#isGone) return;
      const written = this.#connection.write(encodeFrame({ is: "data", streamId, bytes, isLast }, this.#writer));
      this.#pacer.sent(bytes.length);
      await written;
    });
    this.#turn = sent.catch(() => undefined);
    return sent;
  }

  sendReset(streamId: number, status: number): void {
    this.#send({ is: "reset", streamId, status });
  }

  sendRoom(streamId: number, bytes: number): void {
    if (this.#windows.areKept) this.#send({ is: "window-update", streamId, bytes });
  }

  sendReply(streamId: number): void {
    this.#send({ is: "syn-reply", streamId, headers: {}, isLast: false });
  }

  taken(bytes: number): void {
    this.#waitingBytes -= bytes + CHUNK_COST_BYTES;
    if (this.#waitingBytes <= WAITING_BYTES_MAX) this.#roomMade?.();
  }

  over(stream: OpenStream): void {
    this.#streams.delete(stream.id);
  }

  // Receiving.

  async #receive(): Promise<void> {
    const decoder = new FrameDecoder();
    try {
      for await (const chunk of this.#connection.input) {
        this.#take(decoder, chunk);
        while (this.#waitingBytes > WAITING_BYTES_MAX && !this.#isGone) await new Promise<void>((resolve) => (this.#roomMade = resolve));
      }
      this.#end(new Error("The peer closed the connection"));
      this.#connection.end();
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
      this.#connection.abort();
    }
  }

  #take(decoder: FrameDecoder, chunk: Uint8Array): void {
    // After GOAWAY it is read only to detect its end.
    if (this.#isGone) return;
    try {
      for (const frame of decoder.take(chunk)) this.#handle(frame);
    } catch (error) {
      if (!(error instanceof SpdyProtocolError)) throw error;
      this.#sayGoodbye(GOAWAY.protocolError, error);
      this.#giveUpLater();
    }
  }

  #handle(frame: Frame): void {
    if (this.#isGone) return;
    switch (frame.is) {
      case "data":
        return this.#handleData(frame);
      case "syn-stream":
        return this.#handleOpen(frame);
      case "syn-reply":
      case "headers":
        return this.#handleReply(frame);
      case "reset":
        return this.#handleReset(frame.streamId);
      case "ping":
        // Odd ones are the client's: a ping of the peer is answered, one of ours was answered.
        return (frame.id % 2 === 1) === this.#isClient ? this.#pacer.answered(frame.id) : this.#send(frame);
      case "goaway":
        this.#over ??= new Error("The peer sent GOAWAY");
        return;
      case "settings":
        for (const { id, value } of frame.values) if (id === SETTING_INITIAL_WINDOW) this.#keepWindows(value);
        return;
      case "window-update":
        this.#keepWindows(this.#windows.initialBytes);
        this.#streams.get(frame.streamId)?.addRoom(frame.bytes);
        return;
    }
  }

  #handleData({ streamId, bytes, isLast }: DataFrame): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) {
      // In flight when the stream was reset here.
      if (this.#wasOpen(streamId)) return;
      throw new SpdyProtocolError(`Data for stream ${streamId}, which is not open`);
    }
    if (stream.isReceivingOver) return stream.resetWith(RESET.streamAlreadyClosed);
    if (bytes.length > 0) {
      this.#waitingBytes += bytes.length + CHUNK_COST_BYTES;
      stream.receive(bytes);
    }
    if (isLast) stream.receiveEnd();
  }

  #wasOpen(id: number): boolean {
    const isOurs = (id % 2 === 1) === this.#isClient;
    return id > 0 && (isOurs ? id < this.#nextId : id <= this.#theirLastId);
  }

  #handleOpen({ streamId, headers, isLast, isOneWay }: HeadersFrame): void {
    const isTheirs = (streamId % 2 === 1) !== this.#isClient;
    if (!isTheirs || streamId <= this.#theirLastId)
      throw new SpdyProtocolError(`A new stream must have an id of its side above ${this.#theirLastId}, has ${streamId}`);
    this.#theirLastId = streamId;
    // Only clients open streams here.
    if (this.#isClient || this.#over !== undefined || this.#streams.size >= STREAMS_MAX)
      return this.sendReset(streamId, RESET.refusedStream);
    const stream = new OpenStream(this, { id: streamId, headers, window: new SendWindow(this.#windows), isTheirs: true });
    this.#streams.set(streamId, stream);
    if (isLast) stream.receiveEnd();
    if (isOneWay === true) stream.sendingOver();
    if (this.#listener === undefined) this.#unheard.push(stream);
    else this.#announce(stream, this.#listener);
  }

  /** A listener that resets it refuses it. */
  #announce(stream: OpenStream, listener: (stream: SpdyStream) => void): void {
    listener(stream);
    if (!this.#isGone) stream.answer();
  }

  #handleReply({ is, streamId, isLast }: HeadersFrame): void {
    const stream = this.#streams.get(streamId);
    if (stream === undefined) return;
    if (is === "syn-reply") this.#openings.get(streamId)?.resolve(stream);
    if (is === "syn-reply") this.#openings.delete(streamId);
    if (isLast && !stream.isReceivingOver) stream.receiveEnd();
  }

  #handleReset(streamId: number): void {
    const error = new Error(`The peer reset stream ${streamId}`);
    this.#openings.get(streamId)?.reject(error);
    this.#openings.delete(streamId);
    this.#streams.get(streamId)?.fail(error);
  }

  #keepWindows(initialBytes: number): void {
    this.#windows.areKept = true;
    this.#pacer.off();
    this.#windows.initialBytes = initialBytes;
    for (const stream of this.#streams.values()) stream.addRoom(0);
  }

  // Control frames and closing.

  /** Immediately, ahead of queued data: nothing waits for it, so a peer that lets too much of it pile up is disconnected. */
  #send(frame: Frame): void {
    if (this.#isGone) return;
    const bytes = encodeFrame(frame, this.#writer);
    this.#answersWaitingBytes += bytes.length;
    if (this.#answersWaitingBytes > ANSWERS_WAITING_BYTES_MAX) return this.abort();
    const sent = () => (this.#answersWaitingBytes -= bytes.length);
    this.#connection.write(bytes).then(sent, sent);
  }

  #sayGoodbye(status: number, why?: Error): void {
    if (this.#isGone) return;
    this.#send({ is: "goaway", lastStreamId: this.#theirLastId, status });
    this.#end(why ?? new Error("The session is closed"));
    this.#connection.end();
  }

  /** Nothing is read or written any more; the connection is the caller's. */
  #end(why: Error): void {
    if (this.#isGone) return;
    this.#over ??= why;
    this.#isGone = true;
    for (const { reject } of this.#openings.values()) reject(why);
    this.#openings.clear();
    for (const stream of this.#streams.values()) stream.fail(why);
    this.#unheard = [];
    this.#pacer.off();
    this.#roomMade?.();
  }

  #giveUpLater(): void {
    const timer = setTimeout(() => this.abort(), GOODBYE_TIMEOUT_MS);
    timer.unref();
    void this.closed.then(() => clearTimeout(timer));
  }
}
