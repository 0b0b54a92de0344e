/**
 * The reverse proxy's servers: HTTP/1.1 and HTTP/2 on one port without TLS and on another with TLS, certificates chosen by the name in the
 * TLS handshake and exchanged while it runs. Without TLS, clients use HTTP/2 by prior knowledge: their connections begin with its preface.
 * Stopping lets running requests finish. Not here: routes and endpoints, which its handler decides on (contract.ts).
 */
import { constants, randomBytes } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Server as SecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { Logger } from "../../../base/logger.ts";
import { createHttp2Server, createHttpServer, createHttpsServer, handleHttp1 } from "../node-servers.ts";
import * as limit from "../limits.ts";
import { ListenError } from "../server.ts";
import type { ProxyEndpoint, ProxyHandler } from "./contract.ts";
import { Http1Downstream, Http2Downstream, isHttp2Offer, UpgradeDownstream, type Downstream } from "./downstream.ts";
import { servePreface } from "./http2-preface.ts";
import { startExchange, type Exchange, type ExchangeContext } from "./exchange.ts";
import { Http1Pool } from "./http1-pool.ts";
import { Http2Pool } from "./http2-pool.ts";
import { serveByName } from "./named-handshakes.ts";

export interface ProxyCertificate {
  /** PEM, with its chain. */
  readonly certificate: string;
  readonly key: string;
}

/** By host: exact, and "*.example.com" for every name with one more label. */
export type ProxyCertificates = ReadonlyMap<string, ProxyCertificate>;

export interface ProxyServerOptions {
  readonly handler: ProxyHandler;
  /** For hosts without one of their own. */
  readonly defaultCertificate: ProxyCertificate;
  readonly log: Logger;
}

export interface ListenOptions {
  /** Absent: all addresses of the machine. */
  readonly host?: string | undefined;
  /** 0: any free port. */
  readonly port: number;
}

export interface ProxyServer extends AsyncDisposable {
  /** Resolves with the port. Rejects with a ListenError if it cannot be used; another one may be tried. */
  listen(protocol: "http" | "https", options: ListenOptions): Promise<number>;
  /** New connections use these. All must be usable (certificateProblem). */
  useCertificates(certificates: ProxyCertificates): void;
  /** Endpoints that left: their idle connections are closed. */
  forgetEndpoints(endpoints: Iterable<ProxyEndpoint>): void;
  /** Requests under way. */
  readonly runningCount: number;
  readonly connectionCount: number;
}

/** Running requests get this long when the server stops. Not longer, since streams do not end by themselves. */
const STOP_GRACE_MS = 5_000;

/** As nginx: longer than browsers keep idle connections. */
const CLIENT_IDLE_TIMEOUT_MS = 75_000;

/** HTTP/2: concurrent requests per connection, as nginx. A page needs fewer. */
const STREAMS_MAX = 128;

/** Connections of clients in total; each holds a few KiB. Further ones are closed. */
const CONNECTIONS_MAX = 16_384;

/** Interval at which idle HTTP/2 connections are searched for. */
const SWEEP_INTERVAL_MS = 5_000;

/** Why a certificate cannot be used; undefined: it can. */
export function certificateProblem({ certificate, key }: ProxyCertificate): string | undefined {
  try {
    createSecureContext({ cert: certificate, key });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export function createProxyServer(options: ProxyServerOptions): ProxyServer {
  return new NodeProxyServer(options);
}

type Contexts = ReadonlyMap<string, { readonly from: ProxyCertificate; readonly context: SecureContext }>;

interface Session {
  readonly session: ServerHttp2Session;
  streams: number;
  idleSinceMs: number;
}

class NodeProxyServer implements ProxyServer {
  readonly #log: Logger;
  readonly #context: ExchangeContext;
  readonly #plain: Server;
  readonly #secure: SecureServer;
  readonly #http2: Http2Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<Session>();
  readonly #sweeper: NodeJS.Timeout;
  readonly #ports = { http: 0, https: 0 };
  #contexts: Contexts = new Map();
  #whenIdle = () => {};

  constructor({ handler, defaultCertificate, log }: ProxyServerOptions) {
    this.#log = log;
    this.#context = {
      ...{ handler, http1: new Http1Pool(), http2: new Http2Pool(), running: new Set<Exchange>(), isStopping: false },
      nextRequestId: requestIds(),
      onOver: () => void (this.#context.running.size === 0 && this.#whenIdle()),
    };
    const { certificate: cert, key } = defaultCertificate;
    this.#plain = createHttpServer(HTTP_OPTIONS);
    this.#secure = createHttpsServer({
      ...HTTP_OPTIONS,
      ...{ cert, key, ...HANDSHAKE_OPTIONS },
    });
    const unknown = createSecureContext({ cert, key, ...TLS_OPTIONS });
    serveByName(this.#secure, HANDSHAKE_OPTIONS, (name) => this.#contextOf(name) ?? unknown);
    this.#http2 = createHttp2Server({
      maxSessionMemory: limit.SESSION_MEMORY_MEGABYTES_MAX,
      settings: { maxConcurrentStreams: STREAMS_MAX, initialWindowSize: limit.STREAM_WINDOW_BYTES },
    });
    for (const server of [this.#plain, this.#secure]) server.maxConnections = CONNECTIONS_MAX;
    this.#serve();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL_MS).unref();
  }

  get runningCount(): number {
    return this.#context.running.size;
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  async listen(protocol: "http" | "https", options: ListenOptions): Promise<number> {
    const port = await this.#listenOn(protocol === "http" ? this.#plain : this.#secure, options);
    this.#ports[protocol] = port;
    return port;
  }

  #listenOn(server: Server | SecureServer, { host, port }: ListenOptions): Promise<number> {
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException) =>
        reject(new ListenError(`Cannot listen on port ${port}: ${error.message}`, error.code ?? "", error));
      server.removeAllListeners("error").once("error", failed);
      server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        server.off("error", failed);
        // Accepting can fail later, for lack of file descriptors: the connection is lost, and the server continues.
        server.on("error", (error) => this.#log.error("Accepting a connection failed", { error }));
        resolve((server.address() as AddressInfo).port);
      });
    });
  }

  #serve(): void {
    for (const server of [this.#plain, this.#secure]) {
      const isTls = server === this.#secure;
      server.on("connection", (socket: Socket) => {
        this.#sockets.add(socket);
        socket.once("close", () => this.#sockets.delete(socket));
      });
      handleHttp1(server, {
        request: (request, response, clientWaits) => this.#start(new Http1Downstream({ request, response, isTls, clientWaits })),
        upgrade: (upgrade) => this.#start(new UpgradeDownstream({ ...upgrade, isTls })),
      });
    }
    servePreface(this.#plain, this.#http2);
    // Node's own listener is the last one.
    const serveHttp1 = this.#secure.listeners("secureConnection").at(-1) as (this: SecureServer, socket: TLSSocket) => void;
    this.#secure.off("secureConnection", serveHttp1);
    this.#secure.on("secureConnection", (socket: TLSSocket) => {
      if (socket.alpnProtocol === "h2") this.#http2.emit("connection", socket);
      else serveHttp1.call(this.#secure, socket);
    });
    this.#http2.on("session", (session: ServerHttp2Session) => this.#addSession(session));
    this.#http2.on("sessionError", () => {});
  }

  #start(client: Downstream): void {
    startExchange(client, this.#context, client.isTls ? this.#ports.https : this.#ports.http);
  }

  #addSession(session: ServerHttp2Session): void {
    const entry: Session = { session, streams: 0, idleSinceMs: performance.now() };
    this.#sessions.add(entry);
    session.setLocalWindowSize(limit.CONNECTION_WINDOW_BYTES);
    session.on("close", () => this.#sessions.delete(entry));
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      entry.streams++;
      stream.on("close", () => {
        if (--entry.streams === 0) entry.idleSinceMs = performance.now();
      });
      this.#start(new Http2Downstream({ stream, headers, isTls: session.encrypted === true }));
    });
  }

  #sweep(): void {
    const nowMs = performance.now();
    for (const { session, streams, idleSinceMs } of this.#sessions) {
      if (streams === 0 && nowMs - idleSinceMs > CLIENT_IDLE_TIMEOUT_MS) session.close();
    }
  }

  useCertificates(certificates: ProxyCertificates): void {
    this.#contexts = new Map([...certificates].map(([host, from]) => [host, this.#entryOf(host, from)]));
  }

  /** Creating a context takes milliseconds: an unchanged one is kept. */
  #entryOf(host: string, from: ProxyCertificate): { readonly from: ProxyCertificate; readonly context: SecureContext } {
    const known = this.#contexts.get(host);
    if (known !== undefined && known.from.certificate === from.certificate && known.from.key === from.key) return known;
    return { from, context: createSecureContext({ cert: from.certificate, key: from.key, ...TLS_OPTIONS }) };
  }

  /** Undefined: the default certificate. */
  #contextOf(name: string): SecureContext | undefined {
    const dot = name.indexOf(".");
    const found = this.#contexts.get(name) ?? (dot === -1 ? undefined : this.#contexts.get(`*${name.slice(dot)}`));
    return found?.context;
  }

  forgetEndpoints(endpoints: Iterable<ProxyEndpoint>): void {
    const all = [...endpoints];
    this.#context.http1.forget(all);
    this.#context.http2.forget(all);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { running, http1, http2 } = this.#context;
    this.#context.isStopping = true;
    clearInterval(this.#sweeper);
    const closed = Promise.all([this.#plain, this.#secure].map((server) => new Promise<void>((resolve) => server.close(() => resolve()))));
    // Each sends GOAWAY to its client, and closes after its last stream.
    for (const { session } of this.#sessions) session.close();
    this.#plain.closeIdleConnections();
    this.#secure.closeIdleConnections();
    if (running.size > 0) await this.#idle();
    for (const exchange of running) exchange.giveUp();
    for (const socket of this.#sockets) socket.destroySoon();
    http1.close();
    http2.close();
    await closed;
  }

  /** Resolves when no request runs, or after the grace period. */
  async #idle(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
      timer = setTimeout(resolve, STOP_GRACE_MS);
    });
    clearTimeout(timer);
  }
}

const TLS_OPTIONS = { secureOptions: constants.SSL_OP_NO_RENEGOTIATION } as const;

const HANDSHAKE_OPTIONS = { ...TLS_OPTIONS, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout: limit.HANDSHAKE_TIMEOUT_MS };

const HTTP_OPTIONS = {
  headersTimeout: limit.DEFAULT_LIMITS.headersTimeoutMs,
  // Uploads may take long: what makes no progress is ended by the timeouts of its route.
  requestTimeout: 0,
  keepAliveTimeout: CLIENT_IDLE_TIMEOUT_MS,
  connectionsCheckingInterval: SWEEP_INTERVAL_MS,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: limit.TCP_KEEPALIVE_MS,
  // Java's client offers HTTP/2 with every request. Node before 22.21 ignores this and detaches the connection (downstream.ts).
  shouldUpgradeCallback: ({ headers }: IncomingMessage) => !isHttp2Offer(headers.upgrade),
} as const;

/** 32 hexadecimal digits: random for the process, then counted. Random ones for each request would cost a system call. */
function requestIds(): () => string {
  const prefix = randomBytes(10).toString("hex");
  let count = 0;
  return () => prefix + (++count).toString(16).padStart(12, "0");
}
