/**
 * The load generator, in its own process. HTTP/1.1 is spoken directly over TLS sockets and responses are only counted, since Node's own
 * client would be slower than the servers; HTTP/2 is spoken as client-go does: one connection, many concurrent requests.
 */
import type { ClientHttp2Session } from "node:http2";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { median } from "../figure.ts";
import { serve } from "../serve.ts";
import { connectLikeGo } from "./http2-client.ts";
import { configMapManifest, podManifest, podStatus } from "./objects.ts";
import type { Credentials, Protocol, StartedServer } from "./server-child.ts";

export type RequestName = "get-pod" | "list-pods" | "post-configmap" | "post-pod" | "patch-pod" | "put-pod-status";

export interface LoadOptions extends StartedServer {
  readonly protocol: Protocol;
  readonly request: RequestName;
  /** Connections of HTTP/1.1, concurrent requests of HTTP/2. */
  readonly connections: number;
  readonly durationMs: number;
  readonly namespace?: string;
  /** Keeps the connections for the next call with the same options: a handshake costs as much as many requests. */
  readonly keepsConnections?: boolean;
}

export interface LoadResult {
  /** Number of requests. */
  readonly count: number;
  readonly perSecond: number;
  readonly medianMs: number;
  readonly answerBytes: number;
}

interface Wanted {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: Buffer;
}

let number = 0;
const run = process.pid.toString(36);

/** Open connections by the options that they were opened with. */
const kept = new Map<string, Clients>();

const tasks = {
  async load(options: LoadOptions): Promise<LoadResult> {
    const clients = options.keepsConnections === true ? await keptClientsOf(options) : await clientsOf(options);
    const tookMs: number[] = [];
    const startedMs = performance.now();
    let answerBytes = 0;
    const work = async (client: Client, index: number) => {
      for (let beganMs = startedMs; beganMs < startedMs + options.durationMs;) {
        answerBytes = await client.send(wanted(options, index));
        const endedMs = performance.now();
        tookMs.push(endedMs - beganMs);
        beganMs = endedMs;
      }
    };
    await Promise.all(clients.workers.map(work));
    const perSecond = (tookMs.length * 1_000) / (performance.now() - startedMs);
    if (options.keepsConnections !== true) clients.close();
    return { count: tookMs.length, perSecond, medianMs: median(tookMs), answerBytes };
  },

  /** Creates `count` objects concurrently; returns the duration. */
  async fill({ count, kind, nodes = 0, ...server }: FillOptions): Promise<number> {
    const session = connectLikeGo(server);
    const client = new Http2Client(session, server.credentials);
    const startedMs = performance.now();
    let next = 0;
    const work = async () => {
      while (next < count) {
        const index = next++;
        const name = `${kind}-${index.toString().padStart(7, "0")}`;
        const body = kind === "pods" ? podManifest(name, nodes === 0 ? "" : `node-${index % nodes}`) : configMapManifest(name);
        await client.send({
          method: "POST",
          path: `/api/v1/namespaces/default/${kind}`,
          contentType: "application/json",
          body: bytesOf(body),
        });
      }
    };
    await Promise.all(Array.from({ length: 64 }, work));
    session.close();
    return performance.now() - startedMs;
  },

  /** Creates the objects that are read, patched and whose status is updated. */
  async prepare({ count, ...server }: StartedServer & { readonly count: number }): Promise<void> {
    const session = connectLikeGo(server);
    const client = new Http2Client(session, server.credentials);
    for (let index = 0; index < count; index++) {
      const body = bytesOf(podManifest(`target-${index}`, "node-1"));
      await client.send({ method: "POST", path: "/api/v1/namespaces/default/pods", contentType: "application/json", body });
    }
    session.close();
  },
};

interface FillOptions extends StartedServer {
  readonly count: number;
  readonly kind: "pods" | "configmaps";
  readonly nodes?: number;
}

function wanted({ request, namespace = "default" }: LoadOptions, index: number): Wanted {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const target = `${pods}/target-${index}`;
  number += 1;
  switch (request) {
    case "get-pod":
      return { method: "GET", path: target };
    case "list-pods":
      return { method: "GET", path: pods };
    case "post-configmap":
      return {
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/configmaps`,
        contentType: "application/json",
        body: bytesOf(configMapManifest(`c-${run}-${number}`)),
      };
    case "post-pod":
      return { method: "POST", path: pods, contentType: "application/json", body: bytesOf(podManifest(`p-${run}-${number}`)) };
    case "patch-pod":
      return {
        method: "PATCH",
        path: target,
        contentType: "application/strategic-merge-patch+json",
        body: bytesOf({ metadata: { labels: { round: `r${number}` } } }),
      };
    case "put-pod-status": {
      const pod = { ...podManifest(`target-${index}`, "node-1"), status: podStatus(number) };
      return { method: "PUT", path: `${target}/status`, contentType: "application/json", body: bytesOf(pod) };
    }
  }
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

interface Client {
  /** Returns the size of the response body in bytes. */
  send(wanted: Wanted): Promise<number>;
}

interface Clients {
  readonly workers: readonly Client[];
  close(): void;
}

async function keptClientsOf(options: LoadOptions): Promise<Clients> {
  const key = `${options.port} ${options.protocol} ${options.connections}`;
  const clients = kept.get(key) ?? (await clientsOf(options));
  kept.set(key, clients);
  return clients;
}

async function clientsOf({ protocol, connections, ...server }: LoadOptions): Promise<Clients> {
  if (protocol === "http2") {
    const session = connectLikeGo(server);
    const client = new Http2Client(session, server.credentials);
    return { workers: Array.from({ length: connections }, () => client), close: () => session.close() };
  }
  const workers = await Promise.all(Array.from({ length: connections }, () => Http1Client.connect(server)));
  return { workers, close: () => workers.forEach((worker) => worker.close()) };
}

class Http1Client implements Client {
  readonly #socket: TLSSocket;
  readonly #authorization: string;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve(bytes: number): void; reject(error: Error): void } | undefined;

  private constructor(socket: TLSSocket, token: string | undefined) {
    this.#socket = socket;
    this.#authorization = token === undefined ? "" : `authorization: Bearer ${token}\r\n`;
    socket.on("data", (chunk: Buffer) => this.#take(chunk));
    socket.on("error", (error) => this.#waiting?.reject(error));
  }

  static async connect({ port, credentials }: StartedServer): Promise<Http1Client> {
    const { token, ...certificate } = credentials;
    const socket = connectTls({ host: "127.0.0.1", port, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"], ...certificate });
    await new Promise<void>((resolve, reject) => void socket.once("secureConnect", resolve).once("error", reject));
    socket.setNoDelay(true);
    return new Http1Client(socket, token);
  }

  send({ method, path, contentType, body }: Wanted): Promise<number> {
    const length = body === undefined ? "" : `content-length: ${body.length}\r\ncontent-type: ${contentType}\r\n`;
    const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: application/json\r\nuser-agent: bench\r\n${this.#authorization}${length}\r\n`;
    this.#socket.write(body === undefined ? head : Buffer.concat([Buffer.from(head), body]));
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    const end = this.#received.indexOf("\r\n\r\n");
    if (end === -1) return;
    const head = this.#received.toString("latin1", 0, end).toLowerCase();
    const length = Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (this.#received.length < end + 4 + length) return;
    const code = Number(head.slice(9, 12));
    const body = this.#received.subarray(end + 4, end + 4 + length);
    this.#received = Buffer.alloc(0);
    if (code >= 300) this.#waiting?.reject(new Error(`The server returned ${code}: ${body.toString().slice(0, 300)}`));
    else this.#waiting?.resolve(length);
  }
}

class Http2Client implements Client {
  readonly #session: ClientHttp2Session;
  readonly #authorization: { readonly authorization?: string };

  constructor(session: ClientHttp2Session, { token }: Credentials) {
    this.#session = session;
    this.#authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    session.on("error", () => undefined); // Requests report the error.
  }

  send({ method, path, contentType, body }: Wanted): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = {
        ":method": method,
        ":path": path,
        accept: "application/json",
        "user-agent": "bench",
        ...this.#authorization,
      };
      const stream = this.#session.request(contentType === undefined ? headers : { ...headers, "content-type": contentType }, {
        endStream: body === undefined,
      });
      let bytes = 0;
      let code = 0;
      let text = "";
      stream.on("response", (answer) => (code = answer[":status"] ?? 0));
      stream.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (code >= 300) text += chunk.toString();
      });
      stream.on("end", () => (code >= 300 ? reject(new Error(`The server returned ${code}: ${text.slice(0, 300)}`)) : resolve(bytes)));
      stream.on("error", reject);
      if (body !== undefined) stream.end(body);
    });
  }
}

export type LoadTasks = typeof tasks;
serve(tasks);
