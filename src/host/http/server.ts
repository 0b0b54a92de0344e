/**
 * The HTTPS server: HTTP/2 and HTTP/1.1 on one port, chosen by the client in the TLS handshake (ALPN), and other protocols by upgrade.
 * It keeps the limits of limits.ts; what a request means is its handler's.
 *
 * One https.Server listens, since that has Node's own time limits against slow clients; connections that agreed on HTTP/2 are handed
 * to an http2.Server that does not listen itself. Node's combined server would put its slow imitation of HTTP/1.1 over HTTP/2.
 */
import { constants } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2Server, IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Logger } from "../../base/logger.ts";
import type { HttpHandler } from "./contract.ts";
import type { ExchangeContext, NodeExchange } from "./exchange.ts";
import { Http1Exchange } from "./http1.ts";
import { Http2Exchange } from "./http2.ts";
import * as limit from "./limits.ts";
import { createHttp2Server, createHttpsServer, handleHttp1 } from "./node-servers.ts";
import { Peers } from "./peers.ts";
import { PlainConnection } from "./plain-connection.ts";
import { Arrivals } from "./arrivals.ts";
import { EndOfTick } from "./end-of-tick.ts";
import { upgradeExchange, type UpgradeRequest } from "./upgrade.ts";

export interface HttpsServerOptions {
  /** An address of this machine, or a name for one. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** A socket that another process has bound to them (bound-port.ts); several processes may listen on it. */
  readonly descriptor?: number;
  readonly tls: HttpsServerTls;
  readonly limits?: Partial<limit.HttpLimits>;
  /** Error with which reading a body rejects that is too large. */
  readonly bodyTooLarge: (limitBytes: number) => Error;
  readonly handler: HttpHandler;
  readonly log: Logger;
}

/** PEM. */
export interface HttpsServerTls {
  readonly certificate: string;
  readonly key: string;
  /**
   * CAs of client certificates: bundles by a name, which HttpPeerCertificate.authorities returns. Without them, clients are not asked for a
   * certificate: it could not be verified, and browsers would ask their user which one to send.
   */
  readonly clientAuthorities?: Readonly<Record<string, string>>;
}

export interface HttpsServer extends AsyncDisposable {
  /** The port it listens on. */
  readonly port: number;
  /**
   * New connections use this certificate and client CAs; open ones continue. Whether clients are asked for a certificate does not change.
   */
  useTls(tls: HttpsServerTls): void;
  /**
   * Takes no more connections and requests, waits for the running ones (up to `graceMs`; default: STOP_GRACE_MS), then cuts off what
   * is left. Streams are their writers' to end.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Grace period of running requests when the server stops. */
export const STOP_GRACE_MS = 10_000;

/** Grace period for flushing the last responses, when no request is running. */
const STOP_FLUSH_MS = 1_000;

/** Listening failed; `code` is the system's, such as EADDRINUSE. */
export class ListenError extends Error {
  override readonly name = "ListenError";
  readonly code: string;

  constructor(message: string, code: string, cause: unknown) {
    super(message, { cause });
    this.code = code;
  }
}

export async function startHttpsServer(options: HttpsServerOptions): Promise<HttpsServer> {
  const server = new NodeHttpsServer(options);
  await server.listen(options);
  return server;
}

/** An HTTP/2 connection, for the sweep. */
interface Session {
  readonly session: ServerHttp2Session;
  openStreams: number;
  idleSinceMs: number;
}

class NodeHttpsServer implements HttpsServer {
  readonly #handler: HttpHandler;
  readonly #arrivals = new Arrivals<NodeExchange>((exchange) => this.#handler(exchange, exchange));
  readonly #log: Logger;
  readonly #context: ExchangeContext;
  readonly #server: Server;
  readonly #http2: Http2Server;
  readonly #peers: Peers;
  /** All accepted connections, also before and during the handshake. */
  readonly #sockets = new Set<Socket>();
  readonly #http1Sockets = new Set<TLSSocket>();
  readonly #plain = new Set<PlainConnection>();
  readonly #sessions = new Set<Session>();
  readonly #sweeper: NodeJS.Timeout;
  #closing: Promise<void> | undefined;
  #noneRuns = () => {};

  constructor({ handler, log, tls, bodyTooLarge, ...options }: HttpsServerOptions) {
    const limits = { ...limit.DEFAULT_LIMITS, ...options.limits };
    const overWhenStopping = () => this.#context.running.size === 0 && this.#noneRuns();
    this.#handler = handler;
    this.#log = log;
    this.#context = { limits, endOfTick: new EndOfTick(), running: new Set(), bodyTooLarge, stopping: false, overWhenStopping };
    this.#peers = new Peers(tls.clientAuthorities);
    this.#http2 = createHttp2Server(http2Options(limits));
    this.#server = createHttpsServer(httpsOptions(tls, limits));
    this.#server.maxConnections = limits.connectionsMax;
    this.#listenToServers();
    this.#sweeper = setInterval(() => this.#sweep(), limits.sweepIntervalMs).unref();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  useTls(tls: HttpsServerTls): void {
    this.#server.setSecureContext(contextOptions(tls));
    this.#peers.use(tls.clientAuthorities);
  }

  listen({ host, port, descriptor }: HttpsServerOptions): Promise<void> {
    const server = this.#server;
    return new Promise((resolve, reject) => {
      const failed = (error: NodeJS.ErrnoException) => {
        clearInterval(this.#sweeper);
        reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error));
      };
      server.once("error", failed);
      server.listen(descriptor === undefined ? { host, port } : { fd: descriptor }, () => {
        server.off("error", failed);
        // Accepting can fail later, for lack of file descriptors: the connection is lost, and the server continues.
        server.on("error", (error) => this.#log.error("Accepting a connection failed", { error }));
        resolve();
      });
    });
  }

  #listenToServers(): void {
    const server = this.#server;
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Node's own listener is the last one.
    const serveHttp1 = server.listeners("secureConnection").at(-1) as (this: Server, socket: TLSSocket) => void;
    server.off("secureConnection", serveHttp1);
    server.on("secureConnection", (socket: TLSSocket) => {
      if (socket.alpnProtocol === "h2") {
        this.#http2.emit("connection", socket);
        return;
      }
      this.#http1Sockets.add(socket);
      socket.once("close", () => this.#http1Sockets.delete(socket));
      this.#servePlain(socket, () => serveHttp1.call(server, socket));
    });
    handleHttp1(server, {
      request: (request, response, clientWaits) => this.#serve1(request, response, clientWaits),
      upgrade: (upgrade) => this.#serveUpgrade(upgrade),
    });
    this.#http2.on("session", (session: ServerHttp2Session) => this.#addSession(session));
  }

  /** Requests of the usual form are served without Node's parser; any other hands the connection over to it. */
  #servePlain(socket: TLSSocket, handOver: () => void): void {
    const connection = new PlainConnection(socket, {
      context: this.#context,
      handle: (exchange) => this.#arrivals.add(exchange),
      peer: this.#peers.of(socket),
      handOver,
      over: () => this.#plain.delete(connection),
    });
    this.#plain.add(connection);
  }

  #serve1(request: IncomingMessage, response: ServerResponse, clientWaits: boolean): void {
    const exchange = new Http1Exchange(this.#context, this.#peers.of(request.socket as TLSSocket), { request, response, clientWaits });
    this.#handler(exchange, exchange);
  }

  #serveUpgrade(upgrade: UpgradeRequest): void {
    const peer = this.#peers.of(upgrade.request.socket as TLSSocket);
    const { exchange, offer, tunnel } = upgradeExchange(this.#context, peer, upgrade);
    this.#handler(exchange, exchange, offer, tunnel);
  }

  #addSession(session: ServerHttp2Session): void {
    const peer = this.#peers.of(session.socket as TLSSocket);
    const entry: Session = { session, openStreams: 0, idleSinceMs: performance.now() };
    this.#sessions.add(entry);
    session.setLocalWindowSize(limit.CONNECTION_WINDOW_BYTES);
    session.on("close", () => this.#sessions.delete(entry));
    // The raw headers are provided by Node, too, although its types do not declare them.
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, rawHeaders: readonly string[]) => {
      entry.openStreams++;
      stream.on("close", () => {
        if (--entry.openStreams === 0) entry.idleSinceMs = performance.now();
      });
      const exchange = new Http2Exchange(this.#context, peer, { stream, headers, rawHeaders });
      this.#arrivals.add(exchange);
    });
  }

  /** Enforces what Node enforces for HTTP/1.1 only, and disconnects clients that stop reading. */
  #sweep(): void {
    const nowMs = performance.now();
    for (const { session, openStreams, idleSinceMs } of this.#sessions) {
      if (openStreams === 0 && nowMs - idleSinceMs > this.#context.limits.idleTimeoutMs) session.close();
    }
    for (const connection of this.#plain) connection.sweep(nowMs);
    for (const exchange of this.#context.running) exchange.sweep(nowMs);
  }

  close({ graceMs = STOP_GRACE_MS }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#closing ??= this.#close(graceMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(graceMs: number): Promise<void> {
    const { running } = this.#context;
    this.#context.stopping = true;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    // Each sends GOAWAY to its client, and closes after its last stream.
    for (const { session } of this.#sessions) session.close();
    for (const connection of this.#plain) connection.closeIfIdle();
    const noneRuns = new Promise<void>((resolve) => (this.#noneRuns = resolve));
    if (running.size > 0) await atMost(graceMs, noneRuns);
    for (const exchange of running) exchange.giveUp();
    for (const socket of this.#http1Sockets) socket.destroySoon();
    await atMost(STOP_FLUSH_MS, closed);
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    clearInterval(this.#sweeper);
  }
}

/**
 * The settings that can be changed while it runs. No renegotiation: a client could make the server compute handshakes without end, and Go's
 * server does not support it either. Node's own `disableRenegotiation` has no effect on HTTP/2 connections since Node 26.
 */
function contextOptions({ certificate, key, clientAuthorities }: HttpsServerTls) {
  if (clientAuthorities === undefined) return { cert: certificate, key, secureOptions: constants.SSL_OP_NO_RENEGOTIATION };
  // A resumed TLS session does not include the issuers of the client's certificate, so there are no session tickets.
  const secureOptions = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET;
  return { cert: certificate, key, ca: Object.values(clientAuthorities), secureOptions };
}

function httpsOptions(tls: HttpsServerTls, limits: limit.HttpLimits) {
  return {
    ...contextOptions(tls),
    requestCert: tls.clientAuthorities !== undefined,
    // Authentication, including anonymous access, is decided per request.
    rejectUnauthorized: false,
    ALPNProtocols: ["h2", "http/1.1"],
    handshakeTimeout: limit.HANDSHAKE_TIMEOUT_MS,
    headersTimeout: Math.min(limits.headersTimeoutMs, limits.requestTimeoutMs),
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: limits.sweepIntervalMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: limit.TCP_KEEPALIVE_MS,
  };
}

function http2Options({ streamsPerConnectionMax }: limit.HttpLimits) {
  return {
    maxSessionMemory: limit.SESSION_MEMORY_MEGABYTES_MAX,
    settings: {
      maxConcurrentStreams: streamsPerConnectionMax,
      initialWindowSize: limit.STREAM_WINDOW_BYTES,
    },
  };
}

async function atMost(durationMs: number, event: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, durationMs)));
  await Promise.race([event, timeout]);
  clearTimeout(timer);
}
