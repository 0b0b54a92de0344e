/** A server over real TLS with scripted responses, over HTTP/2 or only HTTP/1.1, which counts requests and connections. */
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  constants,
  createSecureServer,
  type Http2SecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type Settings,
} from "node:http2";
import { createServer as createHttpsServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { testServing, type TestServing } from "../../../testing/fixtures/certificates.ts";

export type ScriptedRequest = IncomingMessage | Http2ServerRequest;
export type Script = (request: ScriptedRequest, reply: ScriptedReply) => void;

export interface ScriptedReply {
  /** A complete response; anything but bytes is written as JSON. */
  send(code: number, body: unknown, headers?: Readonly<Record<string, string>>): void;
  /** A head and the beginning of a body, which is never completed. */
  begin(bytes: Uint8Array | string, headers?: Readonly<Record<string, string>>): void;
  /** The same, and then the connection breaks. */
  cutAfter(bytes: Uint8Array | string, headers?: Readonly<Record<string, string>>): void;
  /** States that the request was not processed (HTTP/2). */
  refuse(): void;
  /** Breaks the connection at once. */
  cut(): void;
}
export type Protocol = "HTTP/1.1" | "HTTP/2";

export interface ScriptedServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** PEM. */
  readonly authority: string;
  /** "GET /path" of every request, in order. */
  readonly asked: readonly string[];
  /** Connections so far. */
  readonly connections: number;
  /** Resolves when the next connection is closed. */
  nextClosed(): Promise<void>;
}

export interface ScriptOptions {
  readonly protocol: Protocol;
  readonly settings?: Settings;
  readonly port?: number;
  /** CA certificates, PEM, for client certificates. */
  readonly clientAuthority?: string;
}

let serving: TestServing | undefined;

export async function startScriptedServer(
  { protocol, settings, port = 0, clientAuthority }: ScriptOptions,
  script: Script,
): Promise<ScriptedServer> {
  serving ??= testServing();
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  let onClosed: () => void = () => undefined;
  const cutAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  const handler = (request: ScriptedRequest, response: ServerResponse | Http2ServerResponse): void => {
    asked.push(`${request.method} ${request.url}`);
    // A client that disconnects is part of the script.
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    script(request, replyOf(response as ServerResponse, cutAll));
  };
  const clients = clientAuthority === undefined ? {} : { ca: clientAuthority, requestCert: true, rejectUnauthorized: false };
  const tls = { cert: serving.certificate, key: serving.key, ...clients };
  const server: Server | Http2SecureServer =
    protocol === "HTTP/1.1"
      ? createHttpsServer(tls, handler)
      : createSecureServer({ ...tls, ...(settings === undefined ? {} : { settings }) }, handler);
  server.on("secureConnection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      sockets.delete(socket);
      onClosed();
    });
  });
  // An idle connection stays open, however long a busy machine takes for the next request.
  if ("keepAliveTimeout" in server) server.keepAliveTimeout = 0;
  server.on("sessionError", () => undefined);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const at = (server.address() as AddressInfo).port;
  return {
    port: at,
    url: `https://127.0.0.1:${at}`,
    authority: serving.authority,
    asked,
    get connections() {
      return connections;
    },
    nextClosed: () => new Promise((resolve) => (onClosed = resolve)),
    async [Symbol.asyncDispose]() {
      cutAll();
      server.close();
      if (server.listening) await once(server, "close");
    },
  };
}

/** Both response types have these functions; only their types differ. */
function replyOf(response: ServerResponse, cut: () => void): ScriptedReply {
  return {
    send(code, body, headers = {}) {
      response.writeHead(code, headers);
      response.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body));
    },
    begin(bytes, headers = {}) {
      response.writeHead(200, headers);
      response.write(bytes);
    },
    cutAfter(bytes, headers = {}) {
      response.writeHead(200, headers);
      response.write(bytes, () => void setImmediate(cut));
    },
    refuse: () => (response as unknown as Http2ServerResponse).stream.close(constants.NGHTTP2_REFUSED_STREAM),
    cut,
  };
}
