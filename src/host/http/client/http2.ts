/**
 * One HTTP/2 connection with concurrent requests. Respects the server's stream limit, and pings periodically: a dead peer sends nothing,
 * and an idle watch would not notice.
 */
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { answerOf } from "./response.ts";
import { HttpClientError, type HttpClientAnswer, type HttpClientLimits, type HttpClientRequest } from "./contract.ts";
import { HEADER_PAIRS_MAX } from "../limits.ts";

/** Until the server sends its limit; RFC 9113 recommends that servers allow no fewer. */
const DEFAULT_STREAMS_MAX = 100;

/** Flow-control windows, per request and per connection: per request as in upstream's clients, and in total for many requests. */
const STREAM_WINDOW_BYTES = 4 * 1024 * 1024;
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024;

/** Memory limit of Node per connection; its default of 10 MB is too little for many watches. */
const SESSION_MEMORY_MEGABYTES_MAX = 256;

export interface Http2Options {
  readonly origin: string;
  readonly clock: Clock;
  readonly limits: HttpClientLimits;
  /** As many as the server allows on its other connections; assumed until it has sent its settings for this one. */
  readonly streamsMax: number | undefined;
  /** Called whenever a request has ended or the server's limit rises. */
  onRoom(): void;
  /** Called once: the connection accepts no more requests. */
  onRetired(): void;
}

export class Http2Connection {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #options: Http2Options;
  readonly #over = new AbortController();
  readonly #closed: Promise<void>;
  #streams = 0;
  #streamsMax: number;
  #isRetired = false;
  #idleSinceMs: number;

  constructor(socket: Socket, options: Http2Options) {
    this.#options = options;
    this.#socket = socket;
    this.#streamsMax = options.streamsMax ?? DEFAULT_STREAMS_MAX;
    this.#idleSinceMs = options.clock.monotonic();
    this.#session = connect(options.origin, {
      createConnection: () => socket,
      maxSessionMemory: SESSION_MEMORY_MEGABYTES_MAX,
      maxHeaderListPairs: HEADER_PAIRS_MAX,
      settings: { enablePush: false, initialWindowSize: STREAM_WINDOW_BYTES },
    });
    this.#session.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
    this.#session.on("remoteSettings", ({ maxConcurrentStreams = DEFAULT_STREAMS_MAX }) => {
      this.#streamsMax = maxConcurrentStreams;
      options.onRoom();
    });
    this.#session.on("goaway", () => this.#retired());
    // Each request is notified by its own stream.
    this.#session.on("error", () => undefined);
    this.#closed = new Promise((resolve) => {
      this.#session.once("close", () => {
        this.#over.abort();
        this.#retired();
        resolve();
      });
    });
    void this.#watchOver();
  }

  get hasRoom(): boolean {
    return !this.#isRetired && this.#streams < this.#streamsMax && !this.#session.closed && !this.#session.destroyed;
  }

  get streamsMax(): number {
    return this.#streamsMax;
  }

  get closed(): Promise<void> {
    return this.#closed;
  }

  send(request: HttpClientRequest, sent: (abort: (reason: Error) => void) => void): Promise<HttpClientAnswer> {
    const { method, path, headers, body, signal } = request;
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const length = bytes === undefined ? {} : { "content-length": bytes.length };
    let stream: ClientHttp2Stream;
    try {
      const head = { ":method": method, ":path": path, ...headers, ...length } as Record<string, string | string[] | number>;
      stream = this.#session.request(head, { endStream: bytes === undefined });
    } catch (error) {
      return Promise.reject(new HttpClientError("unprocessed", "Cannot send: the connection is closed", error));
    }
    this.#streams++;
    stream.once("close", () => this.#streamClosed());
    if (bytes !== undefined) stream.end(bytes);
    sent((reason) => stream.destroy(reason));
    return answered(stream, signal);
  }

  /** Accepts no more requests, and closes when the running ones have ended. */
  retire(): void {
    this.#retired();
    this.#session.close();
  }

  destroy(error?: Error): void {
    this.#session.destroy(error);
    // After a GOAWAY, Node only ends its side and waits for the server to end the other one.
    this.#socket.destroy();
  }

  #streamClosed(): void {
    this.#streams--;
    if (this.#streams === 0) this.#idleSinceMs = this.#options.clock.monotonic();
    this.#options.onRoom();
  }

  #retired(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#options.onRetired();
  }

  async #watchOver(): Promise<void> {
    const { clock, limits } = this.#options;
    try {
      for (;;) {
        await clock.sleep(limits.pingIntervalMs, this.#over.signal);
        const idleMs = clock.monotonic() - this.#idleSinceMs;
        if (this.#streams === 0 && idleMs >= limits.idleTimeoutMs) this.retire();
        else await this.#ping();
      }
    } catch (error) {
      if (!this.#over.signal.aborted) this.destroy(error as Error);
    }
  }

  async #ping(): Promise<void> {
    const { clock, limits } = this.#options;
    const timer = new AbortController();
    const tooLate = clock.sleep(limits.pingTimeoutMs, timer.signal).then(() => {
      throw new Error(`no response to a ping within ${limits.pingTimeoutMs / 1_000} s`);
    });
    const answer = new Promise<void>((resolve, reject) => {
      const isSent = this.#session.ping((error) => (error === null ? resolve() : reject(error)));
      if (!isSent) reject(new Error("the connection does not accept pings"));
    });
    try {
      await Promise.race([answer, tooLate]);
    } finally {
      timer.abort();
      tooLate.catch(() => undefined);
      answer.catch(() => undefined);
    }
  }
}

function answered(stream: ClientHttp2Stream, signal: AbortSignal | undefined): Promise<HttpClientAnswer> {
  return new Promise((resolve, reject) => {
    let failure: Error | undefined;
    const released = signal === undefined ? () => undefined : onAbort(signal, () => stream.destroy(signal.reason as Error));
    stream.on("error", (error) => {
      failure = error;
    });
    stream.once("close", () => {
      released();
      if (signal?.aborted === true) reject(signal.reason);
      else reject(noAnswer(stream, failure));
    });
    stream.once("response", (headers: IncomingHttpHeaders & { readonly ":status"?: number }) => {
      resolve(
        answerOf({
          code: headers[":status"] ?? 0,
          headers,
          stream,
          // A stream that is cut with its connection ends normally; only the code shows it.
          isWhole: () => stream.readableEnded && !stream.aborted && isClean(stream.rstCode),
          failure: () => failure,
          released,
          abort: () => stream.close(constants.NGHTTP2_CANCEL),
        }),
      );
    });
  });
}

/** Absent while the stream is still open, which Node's types do not say. */
function isClean(code: number | undefined): boolean {
  return code === undefined || code === constants.NGHTTP2_NO_ERROR;
}

function noAnswer(stream: ClientHttp2Stream, cause: Error | undefined): HttpClientError {
  if (cause instanceof HttpClientError) return cause;
  if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM)
    return new HttpClientError("unprocessed", "No response: the server accepts no more requests on this connection (GOAWAY)", cause);
  // A stream without an id was never sent.
  const loss = stream.id === undefined ? "unprocessed" : "lost";
  return new HttpClientError(loss, `No response: ${cause?.message ?? "the connection was closed"}`, cause);
}
