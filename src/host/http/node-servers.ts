/**
 * Creates every HTTP server of this project and prepares every HTTP/1.1 request that it sends: the one place that decides how many headers
 * are read. Node keeps the first 1,000 headers and drops the rest without an error; a dropped Impersonate-User or Authorization changes
 * whose rights a request has. So no limit on the count applies here, only HEADER_BYTES_MAX: above it the whole request is refused.
 * It also refuses what Go's server refuses and Node accepts: several Host headers, and a request line without a version.
 * tools/tidy.ts holds all other files to it. Not here: what a request means (server.ts).
 */
import { createServer, type ClientRequest, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createSessions, type Http2Server, type ServerOptions as Http2Options } from "node:http2";
import { createServer as createSecure, type Server as SecureServer, type ServerOptions as SecureOptions } from "node:https";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { HEADER_BYTES_MAX, HEADER_PAIRS_MAX } from "./limits.ts";

/** Node reads 0 as "no limit on the count". */
const ANY_COUNT = 0;

export function createHttpServer(options: ServerOptions): Server {
  const server = createServer({ ...options, maxHeaderSize: HEADER_BYTES_MAX });
  server.maxHeadersCount = ANY_COUNT;
  return server;
}

/** HTTP/1.1 over TLS; the caller routes connections that agreed on HTTP/2 to an Http2Server. */
export function createHttpsServer(options: SecureOptions): SecureServer {
  const server = createSecure({ ...options, maxHeaderSize: HEADER_BYTES_MAX });
  server.maxHeadersCount = ANY_COUNT;
  server.on("tlsClientError", answerPlainHttp);
  return server;
}

/** Over either limit nghttp2 resets the stream: the request never reaches a handler. */
export function createHttp2Server(options: Http2Options): Http2Server {
  return createSessions({
    ...options,
    maxHeaderListPairs: HEADER_PAIRS_MAX,
    settings: { ...options.settings, maxHeaderListSize: HEADER_BYTES_MAX },
  });
}

/** For a request that we send: no header of the answer is dropped. An answer with more bytes of headers than Node reads is an error. */
export function keepAllHeaders(request: ClientRequest): void {
  request.maxHeadersCount = ANY_COUNT;
}

export interface Http1Handlers {
  /** `clientWaits`: the client sends its body after a "100 Continue". */
  request(request: IncomingMessage, response: ServerResponse, clientWaits: boolean): void;
  /** Absent: a request for an upgrade is served like any other, and nothing is upgraded. */
  upgrade?(upgrade: { readonly request: IncomingMessage; readonly socket: Socket; readonly head: Buffer }): void;
}

/** Malformed requests are answered here and reach no handler. */
export function handleHttp1(server: Server | SecureServer, handlers: Http1Handlers): void {
  const serve = (clientWaits: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const problem = headProblem(request);
    if (problem === undefined) handlers.request(request, response, clientWaits);
    else refuse(response, problem);
  };
  server.on("request", serve(false));
  server.on("checkContinue", serve(true));
  if (handlers.upgrade === undefined) return;
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    const problem = headProblem(request);
    if (problem === undefined) return handlers.upgrade?.({ request, socket, head });
    socket.on("error", () => {});
    socket.end(`HTTP/1.1 ${problem}\r\nContent-Type: ${PROBLEM_TYPE}\r\nConnection: close\r\n\r\n${problem}`, () => socket.destroy());
  });
}

/** Node counts the bytes of names and values alone; more headers than this do not fit into HEADER_BYTES_MAX with what stands between them. */
const HEADERS_MAX = HEADER_BYTES_MAX / ":\r\n".length;

const PROBLEM_TYPE = "text/plain; charset=utf-8";

/** The status line of the refusal, in the words of Go's server; undefined: none. Runs for every request: must not allocate. */
function headProblem({ httpVersionMajor, rawHeaders }: IncomingMessage): string | undefined {
  // Node gives 0.9 to a request line without a version.
  if (httpVersionMajor < 1) return "400 Bad Request";
  if (httpVersionMajor > 1) return "505 HTTP Version Not Supported: unsupported protocol version";
  if (rawHeaders.length > 2 * HEADERS_MAX) return "431 Request Header Fields Too Large";
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  return hosts > 1 ? "400 Bad Request: too many Host headers" : undefined;
}

function refuse(response: ServerResponse, problem: string): void {
  response.shouldKeepAlive = false;
  const headers = { "content-type": PROBLEM_TYPE, "content-length": problem.length };
  response.writeHead(Number(problem.slice(0, 3)), problem.slice(4), headers).end(problem);
}

/** To the letter what Go's server writes. */
const PLAIN_HTTP_ANSWER = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";

/** Responds to plain HTTP on the HTTPS port. Node has destroyed the TLS layer by now, and closes the TCP socket after this event. */
function answerPlainHttp(error: NodeJS.ErrnoException, socket: TLSSocket): void {
  if (error.code !== "ERR_SSL_HTTP_REQUEST") return;
  const { _parent: connection } = socket as { readonly _parent?: Socket | null };
  if (connection === undefined || connection === null || connection.destroyed) return;
  connection.on("error", () => {});
  connection.end(PLAIN_HTTP_ANSWER, () => connection.destroy());
}
