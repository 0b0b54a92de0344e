/**
 * Forwards a request to another server and streams its response: for proxies. One connection per request, so that a request that must not
 * be repeated never uses a connection which the peer is closing; HTTP/1.1, which every server supports.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { ClientTls } from "./client/contract.ts";
import { ConnectTimeout, HttpClientError, describeFailure } from "./client/contract.ts";
import { HEADER_BYTES_MAX } from "./limits.ts";
import { keepAllHeaders } from "./node-servers.ts";

/** From the first packet to the end of the handshake. */
const CONNECT_TIMEOUT_MS = 30_000;

export interface ForwardRequest {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** For https. */
  readonly tls?: ClientTls;
  readonly method: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  /** A list is several headers of one name. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array;
  /** Cancels until the response head was received. */
  readonly signal: AbortSignal;
}

export interface ForwardReply {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** For one reader, which may stop early. */
  pieces(signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** Rejects with an HttpClientError if there is no response. */
export async function forwardRequest(request: ForwardRequest): Promise<ForwardReply> {
  const answer = await sent(request);
  return {
    code: answer.statusCode ?? 502,
    headers: Object.fromEntries(Object.entries(answer.headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    pieces: (signal) => read(answer, signal),
  };
}

function sent(asked: ForwardRequest): Promise<IncomingMessage> {
  const { host, port, method, path, headers, body, signal, tls = {} } = asked;
  const sentHeaders = { host: hostHeader(asked), ...outgoing(headers) };
  const common = { host, port, method, path, headers: sentHeaders, agent: false, maxHeaderSize: HEADER_BYTES_MAX } as const;
  return new Promise((resolve, reject) => {
    const outgoing = asked.scheme === "http" ? requestHttp(common) : requestHttps({ ...common, ...tlsOptions(tls) });
    keepAllHeaders(outgoing);
    const fail = (error: unknown): void => {
      outgoing.destroy();
      reject(new HttpClientError("lost", describeFailure(error), error));
    };
    outgoing.once("error", fail);
    outgoing.once("response", (answer) => {
      signal.removeEventListener("abort", onAbort);
      outgoing.on("error", () => undefined);
      resolve(answer);
    });
    const onAbort = (): void => fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) return onAbort();
    limitConnecting(outgoing, fail);
    outgoing.end(body);
  });
}

function limitConnecting(outgoing: ClientRequest, fail: (error: Error) => void): void {
  const tooLate = (): void => fail(new ConnectTimeout(`connecting timed out after ${CONNECT_TIMEOUT_MS / 1_000} s`));
  const late = setTimeout(tooLate, CONNECT_TIMEOUT_MS);
  const done = (): void => clearTimeout(late);
  outgoing.once("close", done);
  outgoing.once("socket", (socket) => socket.once("connect", done));
}

function tlsOptions({ authorities, certificate, key, serverName, isInsecure }: ClientTls) {
  return {
    rejectUnauthorized: isInsecure !== true,
    ...(authorities === undefined ? {} : { ca: authorities }),
    ...(certificate === undefined ? {} : { cert: certificate, key }),
    ...(serverName === undefined ? {} : { servername: serverName }),
  };
}

/** Node's types want lists that it may change. */
function outgoing(headers: ForwardRequest["headers"]): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]));
}

function hostHeader({ host, port }: ForwardRequest): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

async function* read(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const leave = (): void => void answer.destroy();
  signal.addEventListener("abort", leave, { once: true });
  if (signal.aborted) leave();
  try {
    for await (const piece of answer) yield piece as Uint8Array;
  } finally {
    signal.removeEventListener("abort", leave);
    answer.destroy();
  }
}
