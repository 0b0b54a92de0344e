/**
 * One attempt to get an answer from one endpoint, by HTTP/1.1 or HTTP/2, with its timeouts. It reports either the head of an answer or a
 * failure, exactly once, and whether the endpoint may have received something. What is tried next is decided in exchange.ts.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from "node:http2";
import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { ForwardPolicy, ProxyEndpoint } from "./contract.ts";
import { flatHeaders, http2Headers } from "./headers.ts";
import type { Http1Pool } from "./http1-pool.ts";
import type { Http2Pool } from "./http2-pool.ts";

export interface AttemptRequest {
  readonly endpoint: ProxyEndpoint;
  readonly method: string;
  readonly target: string;
  /** Names and values, alternating; the framing is not among them. */
  readonly headers: readonly string[];
  /** Host of the request. */
  readonly host: string;
  /** "none", a known length, or "unknown" (chunked). */
  readonly body: "none" | "length" | "unknown";
  readonly isRepeatable: boolean;
  /** Protocol to switch to. */
  readonly upgradeTo?: string | undefined;
  readonly policy: ForwardPolicy;
}

export interface Answer {
  readonly status: number;
  readonly message: string;
  readonly rawHeaders: readonly string[];
  readonly body: Readable;
  /** The head was everything. */
  readonly isEmpty: boolean;
  /** Of HTTP/2: known when the body has ended. */
  trailers?(): readonly string[];
  /** True once the whole body was received. */
  isComplete(): boolean;
  /** Timeout without progress, from now on. */
  setIdleTimeout(durationMs: number): void;
}

export interface Switched {
  readonly rawHeaders: readonly string[];
  readonly socket: Socket;
  readonly head: Buffer;
}

export interface AttemptFailure {
  readonly reason: string;
  readonly isTimeout: boolean;
  /** True if the endpoint certainly received nothing: repeating it is safe for every method. */
  readonly isUnsent: boolean;
}

export interface AttemptEvents {
  /** The connection is established: the body can be written. Not called for a request without a body. */
  ready(body: Writable): void;
  answered(answer: Answer): void;
  switched(switched: Switched): void;
  failed(failure: AttemptFailure): void;
  /** The request cannot be expressed in the endpoint's protocol, a header that may not be repeated for example: the client's fault. */
  refused(): void;
}

export interface Attempt {
  /** Ends it without a report. */
  abort(): void;
}

/** Throws if Node refuses the method, the target or a header. */
export function attemptHttp1(pool: Http1Pool, options: AttemptRequest, events: AttemptEvents): Attempt {
  const { policy, body, upgradeTo, method, host } = options;
  const headers = options.headers.slice();
  if (upgradeTo !== undefined) headers.push("connection", "upgrade", "upgrade", upgradeTo);
  if (body === "unknown") headers.push("transfer-encoding", "chunked");
  else if (body === "none" && expectsBody(method) && !hasLength(headers)) headers.push("content-length", "0");
  const isTls = policy.protocol === "https";
  const request = pool.send({
    endpoint: options.endpoint,
    isTls,
    method,
    target: options.target,
    headers,
    timeoutMs: policy.responseTimeoutMs,
    isRepeatable: options.isRepeatable,
    isUpgrade: upgradeTo !== undefined,
    serverName: isTls && !/^[\d.[]/.test(host) ? host : "",
  });
  return new Http1Attempt(request, options, events);
}

/** A second Content-Length, though equal, is refused by most servers. */
function hasLength(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) if (headers[index]?.toLowerCase() === "content-length") return true;
  return false;
}

/** Methods whose requests Node would otherwise send with an empty chunked body. */
function expectsBody(method: string): boolean {
  return method === "POST" || method === "PUT" || method === "PATCH";
}

class Http1Attempt implements Attempt {
  readonly #request: ClientRequest;
  readonly #events: AttemptEvents;
  #isConnected = false;
  #isOver = false;
  #isTimeout = false;
  #connectTimer: NodeJS.Timeout | undefined;

  constructor(request: ClientRequest, { body, policy }: AttemptRequest, events: AttemptEvents) {
    this.#request = request;
    this.#events = events;
    request.on("socket", (socket: Socket) => this.#connecting(socket, policy, body !== "none"));
    request.on("response", (response: IncomingMessage) => this.#answered(response));
    request.on("upgrade", (response, socket: Socket, head: Buffer) => {
      this.#over();
      events.switched({ rawHeaders: response.rawHeaders, socket, head });
    });
    request.on("timeout", () => {
      this.#isTimeout = true;
      request.destroy(new Error("The endpoint did not answer in time"));
    });
    request.on("error", (error) => this.#failed(error.message));
    request.on("close", () => this.#failed("The connection was closed"));
    if (body === "none") request.end();
  }

  #connecting(socket: Socket, { connectTimeoutMs, protocol }: ForwardPolicy, hasBody: boolean): void {
    const connected = () => {
      clearTimeout(this.#connectTimer);
      this.#isConnected = true;
      if (hasBody && !this.#isOver) this.#events.ready(this.#request);
    };
    if (this.#request.reusedSocket || !socket.connecting) return connected();
    socket.once(protocol === "https" ? "secureConnect" : "connect", connected);
    this.#connectTimer = setTimeout(() => {
      this.#isTimeout = true;
      this.#request.destroy(new Error("Connecting timed out"));
    }, connectTimeoutMs);
  }

  #answered(response: IncomingMessage): void {
    if (this.#isOver) return void response.destroy();
    this.#over();
    this.#events.answered({
      status: response.statusCode ?? 502,
      message: response.statusMessage ?? "",
      rawHeaders: response.rawHeaders,
      body: response,
      isEmpty: false,
      isComplete: () => response.complete,
      setIdleTimeout: (durationMs) => void this.#request.setTimeout(durationMs),
    });
  }

  #failed(reason: string): void {
    if (this.#isOver) return;
    this.#over();
    this.#events.failed({ reason, isTimeout: this.#isTimeout, isUnsent: !this.#isConnected });
  }

  #over(): void {
    this.#isOver = true;
    clearTimeout(this.#connectTimer);
  }

  abort(): void {
    this.#over();
    this.#request.destroy();
  }
}

export function attemptHttp2(pool: Http2Pool, options: AttemptRequest, events: AttemptEvents): Attempt {
  return new Http2Attempt(pool, options, events);
}

class Http2Attempt implements Attempt {
  readonly #events: AttemptEvents;
  #stream: ClientHttp2Stream | undefined;
  #isOver = false;

  constructor(pool: Http2Pool, options: AttemptRequest, events: AttemptEvents) {
    this.#events = events;
    const { endpoint, policy } = options;
    pool.session(endpoint, policy.connectTimeoutMs).then(
      (session) => {
        if (this.#isOver) return;
        try {
          this.#send(session.request(headersOf(options), { endStream: options.body === "none" }), options);
        } catch (error) {
          if (session.closed || session.destroyed) this.#failed({ reason: String(error), isTimeout: false, isUnsent: true });
          else this.#refused();
        }
      },
      (error: Error) => this.#failed({ reason: error.message, isTimeout: false, isUnsent: true }),
    );
  }

  #send(stream: ClientHttp2Stream, { body, policy }: AttemptRequest): void {
    this.#stream = stream;
    let trailers: readonly string[] = [];
    stream.setTimeout(policy.responseTimeoutMs, () => {
      if (this.#isOver) stream.close(constants.NGHTTP2_CANCEL);
      else this.#failed({ reason: "The endpoint did not answer in time", isTimeout: true, isUnsent: false });
    });
    stream.on("response", (headers, flags) => this.#answered(stream, headers, { flags, trailers: () => trailers }));
    stream.on("trailers", (headers: IncomingHttpHeaders) => (trailers = flatHeaders(headers)));
    stream.on("error", (error) => this.#reset(stream, error.message));
    stream.on("close", () => this.#reset(stream, "The stream was closed"));
    if (body !== "none") this.#events.ready(stream);
  }

  #reset(stream: ClientHttp2Stream, reason: string): void {
    const isUnsent = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM;
    this.#failed({ reason, isTimeout: false, isUnsent });
  }

  #answered(
    stream: ClientHttp2Stream,
    headers: IncomingHttpHeaders & { readonly ":status"?: number | undefined },
    { flags, trailers }: { readonly flags: number; readonly trailers: () => readonly string[] },
  ): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#events.answered({
      status: headers[":status"] ?? 502,
      message: "",
      rawHeaders: flatHeaders(headers),
      body: stream,
      isEmpty: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0,
      trailers,
      isComplete: () => stream.readableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR,
      setIdleTimeout: (durationMs) => stream.setTimeout(durationMs),
    });
  }

  #refused(): void {
    this.#isOver = true;
    this.#events.refused();
  }

  #failed(failure: AttemptFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stream?.close(constants.NGHTTP2_CANCEL);
    this.#events.failed(failure);
  }

  abort(): void {
    this.#isOver = true;
    this.#stream?.close(constants.NGHTTP2_CANCEL);
  }
}

function headersOf({ method, target, headers, policy: _policy }: AttemptRequest) {
  const { host, ...rest } = http2Headers(headers);
  // gRPC servers require it; it announces that the client reads trailers.
  return { ...rest, te: "trailers", ":method": method, ":path": target, ":scheme": "http", ":authority": String(host ?? "") };
}
