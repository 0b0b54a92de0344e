/**
 * One request on its way through the proxy: decided, forwarded to one endpoint after the other until one answers, and its answer streamed
 * back without buffering. It is repeated only if that is safe: if nothing was sent, or if the method is idempotent, its body is complete in
 * memory and no byte of an answer came.
 */
import type { Readable, Writable } from "node:stream";
import {
  attemptHttp1,
  attemptHttp2,
  type Answer,
  type Attempt,
  type AttemptEvents,
  type AttemptFailure,
  type AttemptRequest,
  type Switched,
} from "./attempt.ts";
import type { ProxyDecision, ProxyEndpoint, ProxyForward, ProxyHandler } from "./contract.ts";
import type { Downstream } from "./downstream.ts";
import { answerHeaders, requestHeaders } from "./headers.ts";
import type { Http1Pool } from "./http1-pool.ts";
import type { Http2Pool } from "./http2-pool.ts";
import { joinSockets, switchHead } from "./tunnel.ts";

/** RFC 9110, 9.2.2. */
const IDEMPOTENT: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]);

/** Bodies of idempotent requests up to this size are received first, so that the request can be repeated. */
const REPEATABLE_BODY_BYTES_MAX = 64 * 1024;

/** Status of access logs for a client that disconnected before an answer; nginx's. */
const CLIENT_CLOSED_REQUEST = 499;

export interface ExchangeContext {
  readonly handler: ProxyHandler;
  readonly http1: Http1Pool;
  readonly http2: Http2Pool;
  /** Requests under way. */
  readonly running: Set<Exchange>;
  /** While the server stops: connections are closed after their answer. */
  isStopping: boolean;
  nextRequestId(): string;
  onOver(): void;
}

/** `port`: of this server. */
export function startExchange(client: Downstream, context: ExchangeContext, port: number): void {
  const exchange = new Exchange(client, context, port);
  context.running.add(exchange);
  exchange.begin();
}

export class Exchange {
  readonly #client: Downstream;
  readonly #context: ExchangeContext;
  readonly #port: number;
  readonly #requestId: string;
  readonly #startedMs = performance.now();
  #decision: ProxyDecision;
  #headers: readonly string[] = [];
  #endpoint: ProxyEndpoint | undefined;
  #attempt: Attempt | undefined;
  #attempts = 0;
  /** A body that is complete in memory. */
  #whole: Buffer | undefined;
  #isBodyTaken = false;
  #status = 0;
  #sentBytes = 0;
  #isOver = false;
  /** An answer was cut off. */
  #isCut = false;

  constructor(client: Downstream, context: ExchangeContext, port: number) {
    this.#client = client;
    this.#context = context;
    this.#port = port;
    this.#requestId = requestIdOf(client.header("x-request-id")) ?? context.nextRequestId();
    this.#decision = client.problem === undefined ? context.handler.decide(client) : plainReply(400, client.problem);
  }

  /** Cuts it off. */
  giveUp(): void {
    this.#client.abort();
  }

  begin(): void {
    const client = this.#client;
    const decision = this.#decision;
    client.onClosed((isComplete) => this.#over(isComplete || this.#status === 101));
    // The client may disconnect while its body is read.
    client.body.on("error", () => {});
    if (decision.is === "reply") return this.#reply(decision.status, decision.headers, decision.body);
    const { bodyBytesMax } = decision.policy;
    if (bodyBytesMax > 0 && (client.bodyBytes ?? 0) > bodyBytesMax) return this.#refuse(413);
    const { authority, peerAddress, isTls, bodyBytes = Infinity } = client;
    this.#headers = requestHeaders(client.rawHeaders, { authority, peerAddress, isTls, port: this.#port, requestId: this.#requestId });
    if (client.hasBody && bodyBytes <= REPEATABLE_BODY_BYTES_MAX && IDEMPOTENT.has(client.method)) this.#collect(decision);
    else this.#try(decision);
  }

  #collect(decision: ProxyForward): void {
    const { body } = this.#client;
    const pieces: Buffer[] = [];
    this.#takeBody();
    // No attempt has begun whose timeouts would end it.
    const idle = setTimeout(() => this.#refuse(408), decision.policy.idleTimeoutMs);
    body.on("data", (piece: Buffer) => {
      pieces.push(piece);
      idle.refresh();
    });
    body.once("close", () => clearTimeout(idle));
    body.once("end", () => {
      clearTimeout(idle);
      this.#whole = Buffer.concat(pieces);
      if (!this.#isOver) this.#try(decision);
    });
  }

  #try(decision: ProxyForward): void {
    const endpoint = decision.next();
    if (endpoint === undefined) return this.#refuse(this.#attempts === 0 ? 503 : 502);
    this.#endpoint = endpoint;
    this.#attempts++;
    const client = this.#client;
    const { policy, target } = decision;
    // Written out: this runs for every request, and spreading objects costs.
    const request: AttemptRequest = {
      endpoint,
      target,
      policy,
      headers: this.#headers,
      method: client.method,
      host: client.host,
      body: !client.hasBody ? "none" : client.bodyBytes === undefined ? "unknown" : "length",
      isRepeatable: this.#isRepeatable(),
      upgradeTo: client.upgrade?.protocol,
    };
    const events: AttemptEvents = {
      ready: (body) => this.#sendBody(body, decision),
      answered: (answer) => this.#answered(answer, endpoint, decision),
      switched: (switched) => this.#switched(switched, endpoint, decision),
      failed: (failure) => this.#failed(failure, endpoint, decision),
      refused: () => this.#refuse(400),
    };
    const { http1, http2 } = this.#context;
    const isHttp2 = policy.protocol === "h2c" && client.upgrade === undefined;
    try {
      this.#attempt = isHttp2 ? attemptHttp2(http2, request, events) : attemptHttp1(http1, request, events);
    } catch {
      // Node refuses characters that HTTP/2 allows and HTTP/1.1 does not.
      this.#refuse(400);
    }
  }

  #isRepeatable(): boolean {
    const { hasBody, method } = this.#client;
    return IDEMPOTENT.has(method) && (!hasBody || this.#whole !== undefined);
  }

  #failed({ isTimeout, isUnsent }: AttemptFailure, endpoint: ProxyEndpoint, decision: ProxyForward): void {
    if (this.#isOver) return;
    decision.failed(endpoint);
    const mayRepeat = (isUnsent && (!this.#isBodyTaken || this.#whole !== undefined)) || (this.#isRepeatable() && !isTimeout);
    if (mayRepeat && this.#attempts < decision.policy.attemptsMax) this.#try(decision);
    else this.#refuse(isTimeout ? 504 : 502);
  }

  #takeBody(): void {
    this.#isBodyTaken = true;
    this.#client.expectBody();
  }

  #sendBody(to: Writable, { policy }: ProxyForward): void {
    if (this.#whole !== undefined) return void to.end(this.#whole);
    const { body, bodyBytes } = this.#client;
    this.#takeBody();
    const limit = bodyBytes === undefined && policy.bodyBytesMax > 0 ? policy.bodyBytesMax : Infinity;
    let receivedBytes = 0;
    pump(body, to, (bytes) => {
      receivedBytes += bytes;
      if (receivedBytes <= limit) return true;
      this.#attempt?.abort();
      body.removeAllListeners("data");
      if (this.#client.isHeadSent) this.#client.abort();
      else this.#refuse(413);
      return false;
    });
  }

  #answered(answer: Answer, endpoint: ProxyEndpoint, decision: ProxyForward): void {
    const client = this.#client;
    const { body, status } = answer;
    decision.answered(endpoint);
    body.on("error", () => this.#cut());
    if (this.#isOver) return void body.destroy();
    this.#status = status;
    const headers = answerHeaders(answer.rawHeaders, decision.answerHeaders(endpoint));
    if (this.#context.isStopping && client.version !== "2.0") headers.push("connection", "close");
    try {
      client.sendHead(status, answer.message, headers, { isEmpty: answer.isEmpty, hasTrailers: answer.trailers !== undefined });
    } catch {
      body.destroy();
      return this.#refuse(502);
    }
    const { out } = client;
    pump(
      body,
      out,
      (bytes) => {
        this.#sentBytes += bytes;
        return true;
      },
      () => {
        if (!answer.isComplete()) return this.#cut();
        if (answer.trailers === undefined) out.end();
        else client.sendTrailers(answer.trailers());
      },
    );
    body.on("close", () => void (!answer.isComplete() && this.#cut()));
    // Most answers are over by then. Of a stream that is silent, the head goes without the first bytes of the body.
    setImmediate(() => {
      if (this.#isOver) return;
      answer.setIdleTimeout(decision.policy.idleTimeoutMs);
      if (this.#sentBytes === 0) client.flushHead();
    });
  }

  /** The endpoint ended its answer early: the client must see that it is incomplete. */
  #cut(): void {
    if (this.#isOver) return;
    this.#isCut = true;
    this.#client.abort();
  }

  #switched({ rawHeaders, socket, head }: Switched, endpoint: ProxyEndpoint, decision: ProxyForward): void {
    decision.answered(endpoint);
    const client = this.#client;
    const { upgrade } = client;
    if (upgrade === undefined || this.#isOver) {
      socket.destroy();
      // Of an endpoint that switches protocols though the client did not ask for it.
      return this.#refuse(502);
    }
    this.#status = 101;
    upgrade.socket.write(switchHead(rawHeaders, decision.answerHeaders(endpoint)));
    joinSockets({ client: upgrade, endpoint: { socket, head }, idleTimeoutMs: decision.policy.idleTimeoutMs });
  }

  #refuse(status: number): void {
    const { headers, body } = plainReply(status, MESSAGES[status] ?? "");
    this.#reply(status, headers, body);
  }

  #reply(status: number, headers: readonly string[], body: string): void {
    if (this.#isOver) return;
    this.#status = status;
    this.#sentBytes = body.length;
    this.#client.sendWhole(status, [...headers, "x-request-id", this.#requestId], body);
  }

  #over(isComplete: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { running, handler, onOver } = this.#context;
    if (!isComplete) this.#attempt?.abort();
    running.delete(this);
    handler.finished({
      request: this.#client,
      decision: this.#decision,
      requestId: this.#requestId,
      status: this.#status === 0 ? CLIENT_CLOSED_REQUEST : this.#status,
      sentBytes: this.#sentBytes,
      durationMs: performance.now() - this.#startedMs,
      endpoint: this.#endpoint,
      attempts: this.#attempts,
      isComplete: isComplete && !this.#isCut,
    });
    onOver();
  }
}

/** Like pipe, with a count of the bytes, and without listeners that only errors need. `count` returns false to stop. */
function pump(from: Readable, to: Writable, count: (bytes: number) => boolean, onEnd: () => void = () => to.end()): void {
  let isWaiting = false;
  from.on("data", (piece: Buffer) => {
    if (!count(piece.length) || to.destroyed) return;
    if (to.write(piece)) return;
    from.pause();
    if (isWaiting) return;
    isWaiting = true;
    to.once("drain", () => {
      isWaiting = false;
      from.resume();
    });
  });
  from.once("end", onEnd);
}

/** A client's own, if it is harmless in logs. */
function requestIdOf(given: string | undefined): string | undefined {
  return given !== undefined && /^[\w.-]{1,128}$/.test(given) ? given : undefined;
}

/** In the words of the RFC; no version, no address. */
const MESSAGES: Readonly<Record<number, string>> = {
  400: "Bad Request",
  408: "Request Timeout",
  413: "Content Too Large",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

export function plainReply(status: number, message: string): ProxyDecision & { readonly is: "reply" } {
  return { is: "reply", status, headers: ["content-type", "text/plain; charset=utf-8"], body: `${message}\n` };
}
