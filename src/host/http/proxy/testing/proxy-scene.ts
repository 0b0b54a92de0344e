/** A proxy on loopback with one route to given endpoints, and requests to it, for tests. */
import { once } from "node:events";
import { Agent, createServer, request, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server, type ClientHttp2Session, type ServerHttp2Session } from "node:http2";
import { connect as connectTcp, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { Disposables } from "../../../../base/disposables.ts";
import { silentLogger } from "../../../../base/logger.ts";
import { testServing } from "../../../../testing/fixtures/certificates.ts";
import type { ForwardPolicy, ProxyEndpoint, ProxyHandler, ProxyRecord, ProxyRequest } from "../contract.ts";
import { createProxyServer, type ProxyServer } from "../proxy-server.ts";

export const POLICY: ForwardPolicy = {
  protocol: "http",
  connectTimeoutMs: 60_000,
  responseTimeoutMs: 60_000,
  idleTimeoutMs: 60_000,
  bodyBytesMax: 0,
  attemptsMax: 3,
};

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface SceneOptions {
  /** Tried in this order by each request. */
  readonly endpoints?: readonly ProxyEndpoint[];
  readonly policy?: Partial<ForwardPolicy>;
  readonly decide?: ProxyHandler["decide"];
}

export class ProxyScene implements AsyncDisposable {
  readonly records: ProxyRecord[] = [];
  readonly failures: ProxyEndpoint[] = [];
  readonly certificate = testServing();
  readonly server: ProxyServer;
  httpPort = 0;
  httpsPort = 0;
  endpoints: readonly ProxyEndpoint[];
  readonly #owned = new Disposables();
  readonly #agent = new Agent({ keepAlive: true });

  private constructor({ endpoints = [], policy = {}, decide }: SceneOptions) {
    this.endpoints = endpoints;
    const forward = (incoming: ProxyRequest) => {
      const waiting = [...this.endpoints];
      return {
        is: "forward",
        target: incoming.path + incoming.query,
        policy: { ...POLICY, ...policy },
        next: () => waiting.shift(),
        answered: () => {},
        failed: (endpoint: ProxyEndpoint) => void this.failures.push(endpoint),
        answerHeaders: () => [],
      } as const;
    };
    const handler = { decide: decide ?? forward, finished: (record: ProxyRecord) => void this.records.push(record) };
    // Disposed of last: requests of tests finish while the server stops.
    this.#owned.defer(() => this.#agent.destroy());
    this.server = this.#owned.use(createProxyServer({ handler, defaultCertificate: this.certificate, log: silentLogger }));
  }

  static async start(options: SceneOptions = {}): Promise<ProxyScene> {
    const scene = new ProxyScene(options);
    scene.httpPort = await scene.server.listen("http", { host: "127.0.0.1", port: 0 });
    scene.httpsPort = await scene.server.listen("https", { host: "127.0.0.1", port: 0 });
    return scene;
  }

  /** A request by HTTP/1.1. */
  async fetch(
    path: string,
    { method = "GET", headers = {}, body }: { readonly method?: string; readonly headers?: object; readonly body?: string | Buffer } = {},
  ): Promise<Answered> {
    const sent = request({ host: "127.0.0.1", port: this.httpPort, path, method, headers: { ...headers }, agent: this.#agent });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
  }

  /** Bytes as they are; resolves with everything that came until the proxy closed the connection. */
  async raw(bytes: string): Promise<string> {
    const socket = connectTcp(this.httpPort, "127.0.0.1");
    socket.on("error", () => {});
    socket.write(bytes);
    return text(socket);
  }

  /** With TLS, or without by prior knowledge. */
  http2({ isTls = true } = {}): ClientHttp2Session {
    const url = isTls ? `https://127.0.0.1:${this.httpsPort}` : `http://127.0.0.1:${this.httpPort}`;
    const session = connectHttp2(url, { rejectUnauthorized: false });
    this.#owned.defer(() => session.destroy());
    return session;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned[Symbol.asyncDispose]();
  }
}

export interface Backend extends AsyncDisposable {
  readonly endpoint: ProxyEndpoint;
  readonly server: Server;
  readonly sockets: ReadonlySet<Socket>;
}

/** An endpoint that speaks HTTP/1.1. */
export async function startBackend(listener: RequestListener): Promise<Backend> {
  const server = createServer(listener);
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: { address: "127.0.0.1", port: (server.address() as AddressInfo).port },
    server,
    sockets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An endpoint that refuses connections. */
export async function refusingEndpoint(): Promise<ProxyEndpoint> {
  const backend = await startBackend(() => {});
  await backend[Symbol.asyncDispose]();
  return backend.endpoint;
}

/** An endpoint that speaks HTTP/2 without TLS, and says so. */
export async function startHttp2Backend(): Promise<AsyncDisposable & { readonly endpoint: ProxyEndpoint }> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server((_incoming, response) => void response.end("HTTP/2"));
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: { address: "127.0.0.1", port: (server.address() as AddressInfo).port },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
