/**
 * Requests a protocol switch on an HTTP/1.1 connection (Upgrade: SPDY, WebSockets that are forwarded as they are). Switched: the caller
 * owns the connection as bytes. Not switched: a response like any other, and the connection is closed. Not here: the new protocol.
 */
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ByteStream } from "../../../base/byte-stream.ts";
import { onAbort } from "../../../base/abort.ts";
import { streamOfSocket } from "../../network/byte-streams.ts";
import { formatAddress } from "./address.ts";
import { describeFailure, type ClientTls, type HttpClientHeaders } from "./contract.ts";
import { dial } from "./dial.ts";
import { keepAllHeaders } from "../node-servers.ts";
import { realClock } from "../../real-clock.ts";

export type TunnelRequest = (NetworkPlace | SocketPlace) & TunnelQuestion;

interface TunnelQuestion {
  /** Upper case; "GET" if absent. */
  readonly method?: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  /** Lower-case names, with `upgrade` and `connection`. `host` is added if it is missing. */
  readonly headers: HttpClientHeaders;
  /** Cancels until there is a response; the resulting stream is closed by the caller. */
  readonly signal: AbortSignal;
}

interface NetworkPlace {
  readonly scheme: "http" | "https";
  readonly host: string;
  readonly port: number;
  /** For https. Default: the CAs that the machine trusts. */
  readonly tls?: ClientTls;
}

/** A unix socket. */
interface SocketPlace {
  readonly socketPath: string;
}

export type TunnelAnswer =
  | { readonly code: 101; readonly headers: Readonly<Record<string, string>>; readonly stream: ByteStream }
  | { readonly code: number; readonly headers: Readonly<Record<string, string>>; readonly body: Uint8Array };

/** As upstream's clients. */
const CONNECT_TIMEOUT_MS = 30_000;
/** Timeout of the response head: servers that switch protocols do it at once. */
const ANSWER_TIMEOUT_MS = 60_000;
/** Maximum size of a rejection body. It is for people; a longer one is truncated. */
const REFUSAL_BYTES_MAX = 64 << 10;

/** Rejects if there is no response, or with the signal's reason. */
export async function openTunnel(request: TunnelRequest): Promise<TunnelAnswer> {
  request.signal.throwIfAborted();
  const socket = "socketPath" in request ? await dialUnix(request) : await dialNetwork(request);
  const stop = onAbort(request.signal, () => socket.destroy());
  try {
    return await sendUpgrade(socket, request);
  } catch (error) {
    socket.destroy();
    request.signal.throwIfAborted();
    throw new Error(`Cannot open a tunnel to ${placeName(request)}: ${describeFailure(error)}`, { cause: error });
  } finally {
    stop();
  }
}

function placeName(request: TunnelRequest): string {
  return "socketPath" in request ? request.socketPath : formatAddress(request);
}

function dialNetwork({ scheme, host, port, tls, signal }: NetworkPlace & TunnelQuestion): Promise<Socket> {
  return dial({
    host,
    port,
    tls: scheme === "https" ? (tls ?? {}) : undefined,
    protocols: ["http/1.1"],
    clock: realClock,
    timeoutMs: CONNECT_TIMEOUT_MS,
    signal,
  });
}

async function dialUnix({ socketPath, signal }: SocketPlace & TunnelQuestion): Promise<Socket> {
  const socket = connect({ path: socketPath, allowHalfOpen: true });
  const stop = onAbort(signal, () => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve).once("error", reject);
      socket.once("close", () => reject(new Error("it was closed")));
    });
    return socket;
  } catch (error) {
    signal.throwIfAborted();
    throw new Error(`Cannot connect to ${socketPath}: ${describeFailure(error)}`, { cause: error });
  } finally {
    stop();
  }
}

function sendUpgrade(socket: Socket, request: TunnelRequest): Promise<TunnelAnswer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({
      createConnection: () => socket,
      method: request.method ?? "GET",
      path: request.path,
      headers: { host: "socketPath" in request ? "localhost" : formatAddress(request), ...outgoing(request.headers) },
      timeout: ANSWER_TIMEOUT_MS,
    });
    keepAllHeaders(sent);
    sent.once("timeout", () => sent.destroy(new Error(`no response within ${ANSWER_TIMEOUT_MS / 1_000} s`)));
    sent.once("error", reject);
    sent.once("upgrade", (answer: IncomingMessage, switched: Duplex, head: Buffer) => {
      socket.setTimeout(0);
      resolve({ code: 101, headers: headersOf(answer), stream: streamOfSocket(switched, head) });
    });
    sent.once("response", (answer) => void refusal(answer).then(resolve, reject));
    sent.end();
  });
}

function outgoing(headers: HttpClientHeaders): Record<string, string | string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]));
}

async function refusal(answer: IncomingMessage): Promise<TunnelAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= REFUSAL_BYTES_MAX) break;
  }
  answer.destroy();
  return { code: answer.statusCode ?? 0, headers: headersOf(answer), body: Buffer.concat(chunks).subarray(0, REFUSAL_BYTES_MAX) };
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
}
