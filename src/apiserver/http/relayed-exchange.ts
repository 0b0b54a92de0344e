/**
 * The exchange of a read worker: reads of stored objects are answered by the worker's own API server, everything else by the main process.
 * So are reads that the worker's own server rejects, since only the main process records refusals; a rejection for overload stands. Writes
 * of stored objects are relayed as messages, since their responses are whole and there are many of them; all others over HTTP.
 */
import type { FramedRelay } from "../../host/relay/framed-requests.ts";
import type { Relay, RelayedRequest } from "../../host/relay/relay-client.ts";
import { isStatusError } from "../../api/machinery/status-error.ts";
import type { Logger } from "../../base/logger.ts";
import type { ByteStream } from "../../base/byte-stream.ts";
import { joinStreams } from "../../host/network/byte-streams.ts";
import { ConnectionReset, type Exchange, type ExchangeAnswer, type ExchangeRequest, type SwitchOffer } from "../framework/exchange.ts";
import { streamedAnswer } from "../shared/streamed-response.ts";

export interface RelayedExchangeOptions {
  readonly local: Exchange;
  /** As the local server sees the request. */
  storedAccess(request: ExchangeRequest): "read" | "write" | undefined;
  readonly writes: FramedRelay;
  readonly relay: Relay;
  readonly log: Logger;
}

export function relayedExchange({ local, storedAccess, writes, relay, log }: RelayedExchangeOptions): Exchange {
  return async (request, offer, switching) => {
    const access = switching === undefined ? storedAccess(request) : undefined;
    if (access === "read") {
      const answer = await local(request, offer);
      if (!("code" in answer) || answer.code < 400 || answer.code === TOO_MANY_REQUESTS) return answer;
    }
    try {
      if (switching !== undefined) return await tunnelled(relay, request, switching);
      return access === "write" ? await written(writes, request) : await relayed(relay, request);
    } catch (error) {
      // A body that was refused: the worker's own server reports it in the usual form.
      if (isStatusError(error)) return local(request, offer);
      if (request.signal.aborted) throw request.signal.reason;
      log.warn("Relaying a request failed", { method: request.method, path: request.path, error });
      throw new ConnectionReset("The main process did not answer", { cause: error });
    }
  };
}

const TOO_MANY_REQUESTS = 429;

async function written(writes: FramedRelay, request: ExchangeRequest): Promise<ExchangeAnswer> {
  const received = request.body();
  const body = received instanceof Promise ? await received : received;
  const { method, path, query, peer, signal } = request;
  const headers = { ...headersOf(request), "content-length": String(body.length) };
  const response = await writes.send({ method, path, query, peer, signal, headers, body });
  return { code: response.code, headers: response.headers, body: [response.body] };
}

async function relayed(relay: Relay, request: ExchangeRequest): Promise<ExchangeAnswer> {
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  const body = hasBody ? await request.body() : undefined;
  const reply = await relay.send({ ...headOf(request), ...(body === undefined ? {} : { body }) });
  const { code, headers } = reply;
  if ("body" in reply) return { code, headers, body: [reply.body] };
  return streamedAnswer({ code, headers }, (signal) => reply.pieces(signal), { reportsFailure: false });
}

async function tunnelled(relay: Relay, request: ExchangeRequest, { protocol, headers }: SwitchOffer): Promise<ExchangeAnswer> {
  const head = headOf(request);
  const answer = await relay.openTunnel({ ...head, headers: { ...head.headers, ...headers, connection: "Upgrade", upgrade: protocol } });
  if (!("stream" in answer)) return { code: answer.code, headers: answer.headers, body: [answer.body] };
  const { stream } = answer;
  return {
    switching: answer.headers,
    tunnel: (client: ByteStream) => void joinStreams(client, stream),
    abort: () => stream.abort(),
  };
}

/** Headers of the connection, and those for which the worker has its own: it compresses what it sends. */
const NOT_RELAYED: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "x-k8ts-relayed-peer",
]);

function headOf(request: ExchangeRequest): RelayedRequest {
  const { method, path, query, peer, signal } = request;
  return {
    ...{ method, peer, signal },
    target: query === "" ? path : `${path}?${query}`,
    headers: headersOf(request),
  };
}

function headersOf(request: ExchangeRequest): Record<string, string | readonly string[]> {
  const names = request.headerNames().filter((name) => !name.startsWith(":") && !NOT_RELAYED.has(name));
  return Object.fromEntries(names.map((name) => [name, oneOrMany(request.headerValues(name))]));
}

/** Node takes a list of one Host for a second one. */
function oneOrMany(values: readonly string[]): string | readonly string[] {
  return values.length === 1 ? (values[0] as string) : values;
}
