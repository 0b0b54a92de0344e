/**
 * Connection pool for one server. The first connection negotiates the protocol: with HTTP/2 all requests share it, and another is opened
 * only when the server accepts no more requests on the existing ones; with HTTP/1.1 each running request has its own. A lost connection is
 * noticed by its user; the next request opens a new one.
 */
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { onAbort } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { unbracketed } from "./address.ts";
import { ClientDeadlines } from "./deadlines.ts";
import {
  DEFAULT_CLIENT_LIMITS,
  describeFailure,
  HttpClientError,
  type ClientTls,
  type HttpClient,
  type HttpClientAnswer,
  type HttpClientLimits,
  type HttpClientRequest,
} from "./contract.ts";
import { dial } from "./dial.ts";
import { Http1Connections } from "./http1.ts";
import { Http2Connection } from "./http2.ts";

export interface HttpClientOptions {
  /** "https://host:6443"; the path is ignored. "http://…" is never HTTP/2. */
  readonly server: string;
  /** Called for every new connection, so that renewed credentials are used. */
  readonly tls: () => Promise<ClientTls>;
  readonly proxy?: string | undefined;
  /** Host header, if it is not that of the server's address. Only with HTTP/1.1. */
  readonly authority?: string;
  /** Never negotiates HTTP/2. */
  readonly isHttp1Only?: boolean;
  readonly clock: Clock;
  readonly limits?: Partial<HttpClientLimits> | undefined;
}

export function openHttpClient(options: HttpClientOptions): HttpClient {
  return new Pool(options);
}

const HTTP2 = "h2";
const HTTP1 = "http/1.1";

class Pool implements HttpClient {
  readonly #options: HttpClientOptions;
  readonly #limits: HttpClientLimits;
  readonly #url: URL;
  readonly #deadlines: ClientDeadlines;
  /** Connections that accept requests. */
  readonly #connections = new Set<Http2Connection>();
  /** Connections that are not closed yet, retired ones included. */
  readonly #open = new Set<Http2Connection>();
  readonly #waiting = new Set<() => void>();
  /** The server's stream limit per connection, once it is known. */
  #streamsMax: number | undefined;
  #http1: Http1Connections | undefined;
  /** Connections whose last requests are running. */
  readonly #retiredHttp1 = new Set<Http1Connections>();
  /** HTTP/1.1 connections that were opened to negotiate the protocol. */
  readonly #spare: Socket[] = [];
  #dialing: Promise<void> | undefined;
  /** Pending connections are cancelled, too. */
  readonly #closing = new AbortController();

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_CLIENT_LIMITS, ...options.limits };
    this.#url = new URL(options.server);
    this.#deadlines = new ClientDeadlines(options.clock, this.#limits.answerTimeoutMs);
    if (this.#url.protocol === "http:" || options.isHttp1Only === true) this.#http1 = this.#openHttp1();
  }

  async send(request: HttpClientRequest): Promise<HttpClientAnswer> {
    const { signal } = request;
    for (;;) {
      if (signal?.aborted === true) throw signal.reason;
      if (this.#isClosed) throw new HttpClientError("unconnected", "Cannot send: the client was closed");
      const connection = this.#http1 ?? this.#withRoom();
      if (connection !== undefined) return this.#sendOn(connection, request);
      await orAborted(this.#moreRoom(), signal);
    }
  }

  renew(): void {
    for (const connection of [...this.#connections]) connection.retire();
    const retired = this.#http1;
    if (retired === undefined) return;
    this.#http1 = this.#openHttp1();
    this.#retiredHttp1.add(retired);
    retired.retire(() => this.#retiredHttp1.delete(retired));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new Error("the client was closed"));
    this.#deadlines.close();
    for (const connections of [...this.#retiredHttp1, this.#http1]) connections?.destroy();
    for (const socket of this.#spare.splice(0)) socket.destroy();
    this.#roomMade();
    await this.#dialing?.catch(() => undefined);
    const open = [...this.#open];
    for (const connection of open) connection.destroy();
    await Promise.all(open.map(({ closed }) => closed));
  }

  async #sendOn(connection: Http1Connections | Http2Connection, request: HttpClientRequest): Promise<HttpClientAnswer> {
    let clear: (() => void) | undefined;
    const { answerTimeoutMs } = this.#limits;
    try {
      return await connection.send(request, (abort) => {
        clear = this.#deadlines.start(() =>
          abort(new HttpClientError("late", `No response: the server did not respond within ${answerTimeoutMs / 1_000} s`)),
        );
      });
    } finally {
      clear?.();
    }
  }

  #withRoom(): Http2Connection | undefined {
    for (const connection of this.#connections) if (connection.hasRoom) return connection;
    return undefined;
  }

  #moreRoom(): Promise<void> {
    if (this.#dialing !== undefined) return this.#dialing;
    if (this.#connections.size < this.#limits.connectionsMax) {
      const dialing = this.#connect().finally(() => {
        this.#dialing = undefined;
      });
      this.#dialing = dialing;
      return dialing;
    }
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  #roomMade(): void {
    for (const go of this.#waiting) go();
    this.#waiting.clear();
  }

  async #connect(): Promise<void> {
    const socket = await this.#dial([HTTP2, HTTP1]);
    if (this.#isClosed) return void socket.destroy();
    if ((socket as TLSSocket).alpnProtocol !== HTTP2) {
      this.#spare.push(socket);
      this.#http1 = this.#openHttp1();
      return;
    }
    const connection: Http2Connection = new Http2Connection(socket, {
      origin: this.#url.origin,
      clock: this.#options.clock,
      limits: this.#limits,
      streamsMax: this.#streamsMax,
      onRoom: () => {
        this.#streamsMax = connection.streamsMax;
        this.#roomMade();
      },
      onRetired: () => {
        this.#connections.delete(connection);
        this.#roomMade();
      },
    });
    this.#connections.add(connection);
    this.#open.add(connection);
    void connection.closed.then(() => this.#open.delete(connection));
  }

  #openHttp1(): Http1Connections {
    return new Http1Connections({
      authority: this.#options.authority ?? this.#url.host,
      limits: this.#limits,
      dial: () => {
        const spare = this.#spare.pop();
        return spare === undefined || spare.destroyed ? this.#dial([HTTP1]) : Promise.resolve(spare);
      },
    });
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #dial(protocols: readonly string[]): Promise<Socket> {
    const { clock, proxy } = this.#options;
    const isSecure = this.#url.protocol === "https:";
    return dial({
      host: unbracketed(this.#url.hostname),
      port: Number(this.#url.port) || (isSecure ? 443 : 80),
      protocols,
      proxy,
      clock,
      timeoutMs: this.#limits.connectTimeoutMs,
      signal: this.#closing.signal,
      ...(isSecure ? { tls: await this.#tls() } : {}),
    });
  }

  async #tls(): Promise<ClientTls> {
    try {
      return await this.#options.tls();
    } catch (error) {
      throw new HttpClientError("unconnected", `Cannot connect to ${this.#url.host}: ${describeFailure(error)}`, error);
    }
  }
}

/** Several requests may wait for one connection; cancelling one leaves the others waiting. */
function orAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => reject(signal.reason));
    work.then(resolve, reject).finally(stop);
  });
}
