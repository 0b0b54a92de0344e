/**
 * One request and its response, common to HTTP/1.1 and HTTP/2. Hot path, so it allocates little: no URL object, no copy of the headers, no
 * AbortController unless an API of the platform needs it, no timer. Timeouts are enforced by the server's sweep, which checks all running exchanges
 * every few seconds.
 */
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { Cancellation } from "../../base/abort.ts";
import { blocksOf, sendBlocks } from "./blocks.ts";
import { joined, readBody, totalBytes } from "./body.ts";
import type { HttpHead, HttpPeer, HttpReply, HttpRequest, HttpSink } from "./contract.ts";
import { BLOCK_BYTES, ONE_WRITE_BYTES_MAX, type HttpLimits } from "./limits.ts";
import { closedSink, NodeSink, type SinkTarget } from "./sink.ts";
import type { EndOfTick } from "./end-of-tick.ts";

/** State shared by all exchanges of a server. */
export interface ExchangeContext {
  readonly limits: HttpLimits;
  readonly endOfTick: EndOfTick;
  readonly running: Set<NodeExchange>;
  readonly bodyTooLarge: (limitBytes: number) => Error;
  /** While true, every response is the last of its connection. */
  stopping: boolean;
  /** Called after each exchange that ends while the server is stopping. */
  readonly overWhenStopping: () => void;
}

export abstract class NodeExchange implements HttpRequest, HttpReply {
  abstract readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly peer: HttpPeer;
  protected readonly context: ExchangeContext;
  /** The client receives 413: the rest of its body is not read. */
  protected bodyRefused = false;
  #body: Uint8Array | Promise<Uint8Array> | undefined;
  /** While the body is received. */
  #stopBody: ((reason: unknown) => void) | undefined;
  #cancellation: Cancellation | undefined;
  #sink: NodeSink | undefined;
  #state: "open" | "sending" | "over" = "open";
  #clientDisconnected = false;
  #blocksSent = 0;
  /** For the sweep: last observed progress and its time. */
  #bodySinceMs: number | undefined;
  #progress = -1;
  #progressSinceMs = 0;

  constructor(context: ExchangeContext, peer: HttpPeer, target: string) {
    this.context = context;
    this.peer = peer;
    const url = target.startsWith("/") ? target : originForm(target);
    const question = url.indexOf("?");
    this.path = question === -1 ? url : url.slice(0, question);
    this.query = question === -1 ? "" : url.slice(question + 1);
    context.running.add(this);
  }

  abstract header(name: string): string | undefined;
  abstract headerNames(): readonly string[];
  /** Alternating names and values, as received. */
  protected abstract readonly rawHeaders: readonly string[];
  /** Output of the response. */
  protected abstract readonly out: Writable;
  /** Input of the body. */
  protected abstract readonly source: Readable;
  /** Sends 100 Continue if the client waits for it before it sends the body. */
  protected abstract askForBody(): void;
  /** `more`: alternating names and values. */
  protected abstract writeHead(head: HttpHead, more: readonly string[]): void;
  /** Ends the response after these last bytes. */
  protected abstract finish(bytes: Uint8Array | undefined): void;
  protected abstract startStream(head: HttpHead): SinkTarget;

  /** The body, if it was received with the head. */
  protected receivedBody(): Uint8Array | undefined {
    return undefined;
  }

  /** Ends the response after these pieces, which are few and small. */
  protected finishWith(pieces: readonly Uint8Array[], _sizeBytes: number): void {
    this.finish(joined(pieces));
  }

  /** After the head: where a large body is written, in several writes. Ending it ends the response. */
  protected bodyOut(): Writable {
    return this.out;
  }

  /** True if the whole response was sent. */
  protected abstract readonly isComplete: boolean;
  /** Closes the connection. */
  abstract giveUp(): void;

  headerValues(name: string): readonly string[] {
    if (this.header(name) === undefined) return NO_VALUES;
    const { rawHeaders } = this;
    return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name);
  }

  get signal(): Cancellation {
    if (this.#cancellation === undefined) {
      this.#cancellation = new Cancellation();
      if (this.#clientDisconnected) this.#cancellation.abort(clientDisconnected());
    }
    return this.#cancellation;
  }

  cancel(reason: unknown): void {
    this.signal.abort(reason);
    if (this.#stopBody === undefined) return;
    // The rest of the body is not read, so this response is the last of its connection.
    this.bodyRefused = true;
    this.#stopBody(reason);
  }

  body(bytesMax = this.context.limits.bodyBytesMax): Uint8Array | Promise<Uint8Array> {
    this.#body ??= this.#wholeBody(Math.min(bytesMax, this.context.limits.bodyBytesMax));
    return this.#body;
  }

  #wholeBody(bytesMax: number): Uint8Array | Promise<Uint8Array> {
    const tooLarge = () => {
      this.bodyRefused = true;
      return this.context.bodyTooLarge(bytesMax);
    };
    if (Number(this.header("content-length")) > bytesMax) return Promise.reject(tooLarge());
    return this.receivedBody() ?? this.#readBody(bytesMax, tooLarge);
  }

  async #readBody(bytesMax: number, tooLarge: () => Error): Promise<Uint8Array> {
    this.askForBody();
    this.#bodySinceMs = performance.now();
    try {
      return await readBody(this.source, {
        bytesMax,
        tooLarge,
        disconnectReason: () => this.signal.reason ?? clientDisconnected(),
        onStart: (stop) => (this.#stopBody = stop),
      });
    } finally {
      this.#stopBody = undefined;
      this.#bodySinceMs = undefined;
    }
  }

  send(head: HttpHead, body: readonly Uint8Array[], { gzip = false }: { readonly gzip?: boolean } = {}): void {
    if (this.#state !== "open") return;
    this.#state = "sending";
    if (gzip && this.method !== "HEAD") return this.#sendCompressed(head, body);
    const sizeBytes = totalBytes(body);
    this.writeHead(head, mayHaveBody(head.code) ? ["content-length", String(sizeBytes)] : []);
    if (this.method === "HEAD" || !mayHaveBody(head.code)) this.finish(undefined);
    else if (sizeBytes <= ONE_WRITE_BYTES_MAX) this.finishWith(body, sizeBytes);
    else sendBlocks(this.bodyOut(), body, { blockBytes: BLOCK_BYTES, onBlock: () => void this.#blocksSent++ });
  }

  /** The length is unknown before the end. */
  #sendCompressed(head: HttpHead, body: readonly Uint8Array[]): void {
    this.writeHead(head, ["content-encoding", "gzip"]);
    const counted = function* (exchange: NodeExchange) {
      for (const block of blocksOf(body, BLOCK_BYTES)) {
        exchange.#blocksSent++;
        yield block;
      }
    };
    const compress = createGzip({ level: constants.Z_BEST_SPEED });
    // Fails only if the client disconnects, which is handled at the end of the exchange.
    pipeline(Readable.from(counted(this), { objectMode: false }), compress, this.bodyOut()).catch(() => this.giveUp());
  }

  stream(head: HttpHead): HttpSink {
    if (this.#state !== "open") return closedSink;
    if (this.method === "HEAD") {
      this.writeHead(head, []);
      this.finish(undefined);
      return closedSink;
    }
    this.#sink = new NodeSink(this.startStream(head), this.context.endOfTick);
    return this.#sink;
  }

  abort(): void {
    if (this.#state !== "over") this.giveUp();
  }

  /** Called once, when the response is complete or the client disconnected. */
  protected over(): void {
    this.#state = "over";
    this.#clientDisconnected = !this.isComplete;
    this.context.running.delete(this);
    if (this.#clientDisconnected) this.#cancellation?.abort(clientDisconnected());
    this.#sink?.over();
    if (this.context.stopping) this.context.overWhenStopping();
  }

  /** Aborts a client that sends its body, or reads its response, too slowly. */
  sweep(nowMs: number): void {
    const { requestTimeoutMs, stallTimeoutMs } = this.context.limits;
    if (this.#bodySinceMs !== undefined && nowMs - this.#bodySinceMs > requestTimeoutMs) this.giveUp();
    if (this.#state !== "sending") return;
    const progress = this.#blocksSent * 2 ** 32 + this.out.writableLength;
    if (progress !== this.#progress) {
      this.#progress = progress;
      this.#progressSinceMs = nowMs;
    } else if (nowMs - this.#progressSinceMs > stallTimeoutMs) this.giveUp();
  }
}

const NO_VALUES: readonly string[] = [];

export function clientDisconnected(): Error {
  return new Error("The client disconnected");
}

export function mayHaveBody(code: number): boolean {
  return code !== 204 && code !== 304;
}

/** "/a?b" of "https://host/a?b": the absolute form, which clients send to proxies and servers must accept. */
function originForm(target: string): string {
  const [, rest] = /^[a-z]+:\/\/[^/?#]*(.*)$/i.exec(target) ?? [];
  if (rest === undefined) return target;
  return rest.startsWith("/") ? rest : `/${rest}`;
}
