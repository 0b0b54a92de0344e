/**
 * Relays requests of clients to the process that can answer them (relay-server.ts), over connections that are kept for reuse: the other
 * process never closes an idle one, so a reused connection is lost only with that process.
 */
import { Agent, request as requestHttp, type IncomingMessage } from "node:http";
import type { ByteStream } from "../../base/byte-stream.ts";
import { onAbort, signalOf, type CancelSignal } from "../../base/abort.ts";
import type { HttpPeer } from "../http/contract.ts";
import { openTunnel } from "../http/client/upgrade-client.ts";
import { HEADER_BYTES_MAX } from "../http/limits.ts";
import { keepAllHeaders } from "../http/node-servers.ts";
import { PEER_HEADER } from "./relay-server.ts";

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Idle connections kept; more are closed. */
const IDLE_CONNECTIONS_MAX = 256;

/** A response up to this size is relayed as a whole. */
const WHOLE_BYTES_MAX = 1_048_576;

export interface RelayedRequest {
  readonly method: string;
  /** With its query, percent-encoded. */
  readonly target: string;
  readonly headers: Headers;
  readonly peer: HttpPeer;
  readonly body?: Uint8Array;
  /** Aborted when the client disconnects. */
  readonly signal: CancelSignal;
}

export type RelayedReply = { readonly code: number; readonly headers: Headers } & (
  | { readonly body: Uint8Array }
  | { pieces(signal: AbortSignal): AsyncIterable<Uint8Array> }
);

export type RelayedTunnel =
  | { readonly headers: Readonly<Record<string, string>>; readonly stream: ByteStream }
  | { readonly code: number; readonly headers: Headers; readonly body: Uint8Array };

export interface Relay extends Disposable {
  /** Rejects if the other process closes the connection. */
  send(request: RelayedRequest): Promise<RelayedReply>;
  /** The headers include those of the upgrade. */
  openTunnel(request: RelayedRequest): Promise<RelayedTunnel>;
}

export function relayTo(socketPath: string): Relay {
  const agent = new Agent({ keepAlive: true, maxFreeSockets: IDLE_CONNECTIONS_MAX });
  const encoded = new WeakMap<HttpPeer, string>();
  const headersOf = ({ headers, peer }: RelayedRequest) => {
    let value = encoded.get(peer);
    if (value === undefined) encoded.set(peer, (value = Buffer.from(JSON.stringify(peer)).toString("base64url")));
    return { ...headers, [PEER_HEADER]: value };
  };
  return {
    send: (request) => sent({ ...request, headers: headersOf(request) }, { socketPath, agent }),
    async openTunnel(request) {
      const { method, target: path, signal } = request;
      return openTunnel({ socketPath, method, path, headers: headersOf(request), signal: signalOf(signal) });
    },
    [Symbol.dispose]: () => agent.destroy(),
  };
}

function sent(
  { method, target, headers, body, signal }: RelayedRequest,
  place: { readonly socketPath: string; readonly agent: Agent },
): Promise<RelayedReply> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(body.length) };
    const request = requestHttp({
      ...place,
      method,
      path: target,
      headers: { ...(headers as Record<string, string | string[]>), ...length },
      maxHeaderSize: HEADER_BYTES_MAX,
    });
    keepAllHeaders(request);
    const stop = onAbort(signal, () => request.destroy(signal.reason as Error));
    request.once("close", stop);
    request.once("error", reject);
    request.once("response", (answer) => {
      request.on("error", () => undefined);
      replyOf(answer).then(resolve, reject);
    });
    request.end(body);
  });
}

async function replyOf(answer: IncomingMessage): Promise<RelayedReply> {
  const { "content-length": length, ...others } = answer.headers;
  const headers = Object.fromEntries(
    Object.entries(others).flatMap(([name, value]) => (value === undefined || HOP_HEADERS.has(name) ? [] : [[name, value]])),
  );
  const head = { code: answer.statusCode ?? 502, headers };
  if (Number(length ?? Number.POSITIVE_INFINITY) > WHOLE_BYTES_MAX) return { ...head, pieces: (signal) => read(answer, signal) };
  const pieces: Uint8Array[] = [];
  for await (const piece of answer) pieces.push(piece as Uint8Array);
  if (!answer.complete) throw new Error("The connection was closed before the end of the response");
  return { ...head, body: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces) };
}

/** Of a connection, not of a response. */
const HOP_HEADERS: ReadonlySet<string> = new Set(["connection", "keep-alive", "transfer-encoding", "date"]);

async function* read(answer: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const stop = onAbort(signal, () => void answer.destroy());
  try {
    for await (const piece of answer) yield piece as Uint8Array;
  } finally {
    stop();
    answer.destroy();
  }
}
