/** A served exchange and clients of both protocols, for the tests of this folder. Real sockets on loopback, real TLS. */
import { onAbort } from "../../../base/abort.ts";
import { once } from "node:events";
import { connect, type ClientHttp2Session, type IncomingHttpHeaders as Http2Headers } from "node:http2";
import { Agent, request as httpsRequest, type RequestOptions } from "node:https";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { connect as tlsConnect, type TLSSocket } from "node:tls";
import { silentLogger } from "../../../base/logger.ts";
import type { HttpsServer } from "../../../host/http/server.ts";
import { testServing } from "../../../testing/fixtures/certificates.ts";
import type { Exchange, ExchangeRequest, Sink, StreamedAnswer, WholeAnswer } from "../../framework/exchange.ts";
import { startHttpApi, type HttpApiOptions } from "../http-api.ts";

const tls = testServing();

export interface Served extends AsyncDisposable {
  readonly port: number;
  readonly authority: string;
  close: HttpsServer["close"];
}

export async function serve(exchange: Exchange, options: Partial<HttpApiOptions> = {}): Promise<Served> {
  const server = await startHttpApi({ exchange, host: "127.0.0.1", port: 0, tls, log: silentLogger, ...options });
  return {
    port: server.port,
    authority: tls.authority,
    close: (grace) => server.close(grace),
    [Symbol.asyncDispose]: () => server.close({ graceMs: 0 }),
  };
}

export function text(body: string, answer: Partial<WholeAnswer> = {}): WholeAnswer {
  return { code: 200, headers: { "content-type": "text/plain" }, body: [Buffer.from(body)], ...answer };
}

/** A response whose sink is passed on when it is opened. */
export function watchAnswer(contentType = "application/json"): { readonly answer: StreamedAnswer; readonly sink: Promise<Sink> } {
  const { promise: sink, resolve: stream } = deferred<Sink>();
  return { answer: { code: 200, headers: { "content-type": contentType }, stream }, sink };
}

export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((settle) => (resolve = settle));
  return { promise, resolve: (value) => resolve(value) };
}

export function chunk(body: string | Uint8Array): { readonly bytes: Uint8Array } {
  return { bytes: Buffer.from(body) };
}

export function aborted(request: ExchangeRequest): Promise<void> {
  return new Promise((resolve) => {
    if (request.signal.aborted) resolve();
    else onAbort(request.signal, resolve);
  });
}

export interface Received {
  readonly code: number;
  readonly headers: IncomingHttpHeaders | Http2Headers;
  readonly body: string;
}

export interface RequestInput {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Client extends Disposable {
  ask(asked?: RequestInput): Promise<Received>;
}

export const PROTOCOLS: Readonly<Record<"HTTP/1.1" | "HTTP/2", (served: Served) => Client>> = {
  "HTTP/1.1": http1Client,
  "HTTP/2": http2Client,
};

export function http1Client({ port, authority }: Served): Client {
  const agent = new Agent({ keepAlive: true, ca: authority });
  return {
    ask: (asked = {}) => requestHttp1({ port, agent }, asked),
    [Symbol.dispose]: () => agent.destroy(),
  };
}

async function requestHttp1(options: RequestOptions, { method = "GET", path = "/", headers = {}, body }: RequestInput): Promise<Received> {
  const request = httpsRequest({ host: "127.0.0.1", ...options, method, path, headers });
  // Sending an unwanted body may break the connection; the response counts.
  request.on("error", () => {});
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  return { code: response.statusCode ?? 0, headers: response.headers, body: await allOf(response) };
}

export function http2Client({ port, authority }: Served): Client & { readonly session: ClientHttp2Session } {
  const session = connect(`https://127.0.0.1:${port}`, { ca: authority });
  session.on("error", () => {});
  return {
    session,
    ask: (asked = {}) => requestHttp2(session, asked),
    [Symbol.dispose]: () => session.destroy(),
  };
}

async function requestHttp2(
  session: ClientHttp2Session,
  { method = "GET", path = "/", headers = {}, body }: RequestInput,
): Promise<Received> {
  const stream = session.request({ ":method": method, ":path": path, ...headers }, { endStream: body === undefined });
  const answered = once(stream, "response") as Promise<[Http2Headers]>;
  if (body !== undefined) stream.end(body);
  const [received] = await answered;
  return { code: Number(received[":status"]), headers: received, body: await allOf(stream) };
}

export async function allOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of source) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** A raw TLS connection for HTTP/1.1 by hand. */
export async function rawConnection({ port, authority }: Served): Promise<TLSSocket> {
  const socket = tlsConnect({ host: "127.0.0.1", port, ca: authority, ALPNProtocols: ["http/1.1"] });
  socket.on("error", () => {});
  await once(socket, "secureConnect");
  return socket;
}

/** Reads until the text matches. Rejects if the connection ends before. */
export async function readUntil(socket: TLSSocket, pattern: RegExp): Promise<string> {
  let received = "";
  for await (const piece of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    received += piece.toString();
    if (pattern.test(received)) return received;
  }
  throw new Error(`The connection ended after ${JSON.stringify(received)}`);
}

export function disposable<T extends { destroy(): unknown }>(socket: T): Disposable & { readonly socket: T } {
  return { socket, [Symbol.dispose]: () => void socket.destroy() };
}
