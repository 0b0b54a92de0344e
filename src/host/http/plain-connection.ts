/**
 * Serves plain requests of an HTTP/1.1 connection without Node's parser, request and response objects, which cost more than a GET itself. The
 * first bytes that are not exactly one plain request (plain-request.ts) hand the connection over to Node's server, with these bytes, for the
 * rest of its life: whatever is unusual, incomplete or pipelined is handled there, within Node's own limits.
 */
import type { TLSSocket } from "node:tls";
import type { HttpPeer } from "./contract.ts";
import type { ExchangeContext } from "./exchange.ts";
import { PlainExchange, type PlainConnectionState } from "./plain-exchange.ts";
import { readPlainRequest } from "./plain-request.ts";

export interface PlainConnectionOptions {
  readonly context: ExchangeContext;
  /** Called for each request. */
  handle(exchange: PlainExchange): void;
  readonly peer: HttpPeer;
  /** Node's server takes the socket over. Called once at most. */
  handOver(socket: TLSSocket): void;
  /** The connection is closed or handed over. */
  over(): void;
}

/** As Node responds to a client that sends nothing. */
const TIMED_OUT = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n";

export class PlainConnection implements PlainConnectionState {
  readonly socket: TLSSocket;
  readonly peer: HttpPeer;
  readonly #options: PlainConnectionOptions;
  /** The request that is being answered. */
  #running: PlainExchange | undefined;
  /** The last one, until its response is flushed. */
  #last: PlainExchange | undefined;
  /** Sent by the client before it received the response. */
  #early: Buffer | undefined;
  readonly #wasHalfOpen: boolean;
  #isClosing = false;
  #hasServed = false;
  #idleSinceMs = performance.now();

  constructor(socket: TLSSocket, options: PlainConnectionOptions) {
    this.socket = socket;
    this.peer = options.peer;
    this.#options = options;
    // Otherwise Node ends the socket before a request that arrived together with the end is answered.
    this.#wasHalfOpen = socket.allowHalfOpen;
    socket.allowHalfOpen = true;
    socket.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onClose).on("error", this.#onError);
  }

  readonly #onData = (bytes: Buffer): void => {
    if (this.#isClosing) return;
    if (this.#running !== undefined) {
      this.socket.pause();
      this.#early = this.#early === undefined ? bytes : Buffer.concat([this.#early, bytes]);
      return;
    }
    const request = readPlainRequest(bytes);
    if (request === undefined) return this.#handOver(bytes);
    const exchange = new PlainExchange(this.#options.context, this, request);
    this.#hasServed = true;
    this.#running = exchange;
    this.#last = exchange;
    this.#options.handle(exchange);
  };

  answered({ isLast }: { readonly isLast: boolean }): void {
    this.#running = undefined;
    this.#idleSinceMs = performance.now();
    const early = this.#early;
    this.#early = undefined;
    if (isLast) this.close();
    else if (early !== undefined) this.#handOver(early);
  }

  #handOver(bytes: Buffer): void {
    const { socket } = this;
    const last = this.#last;
    // Paused, so that the bytes are kept until Node's listener receives them.
    socket.pause();
    socket.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (last !== undefined) socket.once("close", () => this.#disconnect(last));
    socket.allowHalfOpen = this.#wasHalfOpen;
    this.#options.over();
    socket.unshift(bytes);
    this.#options.handOver(socket);
    socket.off("error", this.#onError);
    socket.resume();
  }

  /** The client sends no more: without a request it has no use for the connection, and a running one is cancelled, as by Node's server. */
  readonly #onEnd = (): void => {
    // After the requests of this tick have started (arrivals.ts): those that are answered from memory are answered by then.
    setImmediate(() => {
      if (this.#running === undefined) this.close();
      else this.socket.destroy();
    });
  };

  /** Node reports some errors of TLS without closing the connection, such as an attempt to renegotiate. */
  readonly #onError = (): void => void this.socket.destroy();

  readonly #onClose = (): void => {
    this.#options.over();
    if (this.#last !== undefined) this.#disconnect(this.#last);
  };

  #disconnect(exchange: PlainExchange): void {
    if (this.#options.context.running.has(exchange)) exchange.disconnected();
  }

  /** After what was written. */
  close(): void {
    this.#isClosing = true;
    this.socket.destroySoon();
  }

  closeIfIdle(): void {
    if (this.#running === undefined) this.close();
  }

  /** Closes a connection that sends no request in time. */
  sweep(nowMs: number): void {
    if (this.#running !== undefined || this.#isClosing) return;
    const { headersTimeoutMs, idleTimeoutMs } = this.#options.context.limits;
    const idleMs = nowMs - this.#idleSinceMs;
    if (this.#hasServed ? idleMs <= idleTimeoutMs : idleMs <= headersTimeoutMs) return;
    if (!this.#hasServed) this.socket.write(TIMED_OUT);
    this.close();
  }
}
