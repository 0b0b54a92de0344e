/**
 * A server in its own process: k8ts on the embedded store, or a bare Node server that does only the unavoidable. The bare reader sends the
 * same bytes each time; the bare writer parses the body, serializes a response of our size, appends it to a file with fdatasync (shared by
 * all pending writes) and responds.
 */
import { createServer, type Server } from "node:https";
import { createSecureServer, type Http2SecureServer } from "node:http2";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { startCluster } from "../../src/embedded/start-cluster.ts";
import { DEFAULT_API_SERVER_OPTIONS } from "../../src/config/api-server-config.ts";
import { sharedPki } from "../../src/testing/fixtures/certificates.ts";
import { readFile } from "node:fs/promises";
import { collectGarbage, serve } from "../serve.ts";
import { createAccount } from "./objects.ts";
import { openBareAppend } from "../store/bare-append.ts";
import type { Create } from "../store/load.ts";

export type Protocol = "http1" | "http2";

export interface StartedServer {
  readonly port: number;
  readonly credentials: Credentials;
}

/** Credentials of clients: a certificate (PEM) or a token. */
export interface Credentials {
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
}

const tasks = {
  /** The API server without controllers and scheduler: they react to writes, and the garbage collector deletes Pods whose owner does not exist. */
  async startK8ts({ directory, store }: K8tsOptions): Promise<StartedServer> {
    const config =
      store === "memory" ? ({ driver: "memory" } as const) : ({ driver: "embedded", dataDirectory: join(directory, "k8ts") } as const);
    const { api } = DEFAULT_API_SERVER_OPTIONS;
    // The load exceeds the default in-flight limits, and the benchmark measures the cost of requests.
    const roomy = { ...api, maxRequestsInFlight: 10_000, maxMutatingRequestsInFlight: 10_000 };
    const cluster = await startCluster({ store: config, api: roomy, nodes: 0, listen: true, controllers: [], scheduler: false });
    await createAccount(cluster.transport({ userAgent: "bench" }));
    const { users } = JSON.parse(await readFile(cluster.kubeconfig, "utf8")) as { users: [{ user: Record<string, string> }] };
    const pem = (member: string) => Buffer.from(users[0].user[member] ?? "", "base64").toString();
    const credentials = { cert: pem("client-certificate-data"), key: pem("client-key-data") };
    return { port: Number(new URL(cluster.url).port), credentials };
  },

  /** Responds to every request with `bodyBytes` bytes; with a file, only after they are written to it. */
  async startBare({ directory, protocol, bodyBytes, durable }: BareOptions): Promise<StartedServer> {
    const append = durable ? await openBareAppend(join(directory, `bare-${protocol}.log`)) : undefined;
    const { certificate, key } = (await sharedPki()).pair("apiserver");
    const handler = bareHandler(bodyBytes, append);
    const server: Server | Http2SecureServer =
      protocol === "http1"
        ? createServer({ cert: certificate, key }, handler)
        : createSecureServer({ cert: certificate, key }, handler as never);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    return { port: (server.address() as AddressInfo).port, credentials: {} };
  },

  async memory(): Promise<{ readonly residentBytes: number; readonly heapBytes: number; readonly externalBytes: number }> {
    collectGarbage();
    // "external" has no shared memory, in which stored bytes are.
    const { rss, heapUsed, arrayBuffers } = process.memoryUsage();
    return { residentBytes: rss, heapBytes: heapUsed, externalBytes: arrayBuffers };
  },

  async cpu(): Promise<number> {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

interface K8tsOptions {
  readonly directory: string;
  readonly store: "embedded" | "memory";
}

interface BareOptions {
  readonly directory: string;
  readonly protocol: Protocol;
  readonly bodyBytes: number;
  readonly durable: boolean;
}

function bareHandler(bodyBytes: number, append: Create | undefined): (request: IncomingMessage, response: ServerResponse) => void {
  const payload = Buffer.from(JSON.stringify({ text: "x".repeat(Math.max(0, bodyBytes - 11)) }));
  const answer = { text: "x".repeat(Math.max(0, bodyBytes - 11)) };
  if (append === undefined) {
    return (_request, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": payload.length });
      response.end(payload);
    };
  }
  return (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => void chunks.push(chunk));
    request.on("end", () => {
      JSON.parse(Buffer.concat(chunks).toString());
      const bytes = Buffer.from(JSON.stringify(answer));
      void append("key", bytes).then(() => {
        response.writeHead(201, { "content-type": "application/json", "content-length": bytes.length });
        response.end(bytes);
      });
    });
  };
}

export type ServerTasks = typeof tasks;
serve(tasks);
