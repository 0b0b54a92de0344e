/**
 * Serves an Exchange over HTTPS. It moves bytes and enforces limits; the meaning of requests is decided by the Exchange. The generic part
 * is host/http; this file has what is specific to the API: the message for an oversized body, which responses are compressed, and the
 * handling of WebSockets: a watch or log, or a connection taken over by the Exchange.
 */
import { tooLarge } from "../../api/machinery/status-error.ts";
import type { Logger } from "../../base/logger.ts";
import type { HttpReply, HttpRequest, TunnelOffer, WebSocketOffer } from "../../host/http/contract.ts";
import type { HttpLimits } from "../../host/http/limits.ts";
import { startHttpsServer, type HttpsServer, type HttpsServerTls } from "../../host/http/server.ts";
import type { FrameSocket } from "../../host/relay/frame-socket.ts";
import { serveFrames } from "../../host/relay/framed-requests.ts";
import { startRelayServer } from "../../host/relay/relay-server.ts";
import {
  ConnectionReset,
  type Exchange,
  type ExchangeAnswer,
  type SwitchOffer,
  type TunnelledAnswer,
  type WholeAnswer,
} from "../framework/exchange.ts";
import { isToBeCompressed, withVary } from "./compression.ts";
import { protocolsOf, streamToWebSocket } from "./watch-web-socket.ts";

/** Maximum request body: upstream's limit, twice the maximum of a store for one object. */
export const BODY_BYTES_MAX = 3 * 1024 * 1024;

export interface HttpApiOptions {
  readonly exchange: Exchange;
  /** A local address. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: HttpsServerTls;
  readonly limits?: Partial<HttpLimits>;
  readonly descriptor?: number;
  readonly log: Logger;
}

export function startHttpApi({ exchange, log, ...options }: HttpApiOptions): Promise<HttpsServer> {
  const api = new HttpApi(exchange, log);
  return startHttpsServer({
    host: options.host,
    port: options.port,
    tls: options.tls,
    limits: { bodyBytesMax: BODY_BYTES_MAX, ...options.limits },
    bodyTooLarge: (limitBytes) => tooLarge(`limit is ${limitBytes}`),
    handler: (request, reply, offer, tunnel) => api.serve(request, reply, offer, tunnel),
    ...(options.descriptor === undefined ? {} : { descriptor: options.descriptor }),
    log,
  });
}

/** Serves the requests that a read worker relays as messages (relayed-exchange.ts). */
export function serveRelayedRequests(socket: FrameSocket, { exchange, log }: Pick<HttpApiOptions, "exchange" | "log">): void {
  const api = new HttpApi(exchange, log);
  serveFrames(socket, (request, reply) => api.serve(request, reply, undefined, undefined));
}

/** Serves the other requests that read workers relay. */
export function startRelayedApi({
  exchange,
  path,
  log,
}: Pick<HttpApiOptions, "exchange" | "log"> & { readonly path: string }): Promise<AsyncDisposable> {
  const api = new HttpApi(exchange, log);
  return startRelayServer({
    path,
    limits: { bodyBytesMax: BODY_BYTES_MAX },
    bodyTooLarge: (limitBytes) => tooLarge(`limit is ${limitBytes}`),
    handler: (request, reply, offer, tunnel) => api.serve(request, reply, offer, tunnel),
  });
}

class HttpApi {
  readonly #exchange: Exchange;
  readonly #log: Logger;

  constructor(exchange: Exchange, log: Logger) {
    this.#exchange = exchange;
    this.#log = log;
  }

  serve(request: HttpRequest, reply: HttpReply, offer: WebSocketOffer | undefined, tunnel: TunnelOffer | undefined): void {
    const served =
      tunnel === undefined
        ? this.#exchange(request).then((answer) => send(request, reply, answer))
        : this.#serveUpgrade(request, reply, offer, tunnel);
    served.catch((error: unknown) => this.#failed(request, reply, error));
  }

  async #serveUpgrade(request: HttpRequest, reply: HttpReply, offer: WebSocketOffer | undefined, tunnel: TunnelOffer): Promise<void> {
    const protocols = offer === undefined ? [] : protocolsOf(offer);
    const answer = await this.#exchange(request, offer === undefined ? undefined : { protocols }, switchOffer(request, tunnel, protocols));
    if ("switching" in answer) return switchOver(tunnel, answer);
    if (offer === undefined) return send(request, reply, answer);
    if ("run" in answer) return answer.run(await offer.accept(answer.protocol));
    if ("body" in answer) return sendWhole(request, reply, answer);
    // The client's first choice: the bytes are the same for each.
    return streamToWebSocket(answer, await offer.accept(protocols[0]));
  }

  /** Neither the exchange nor its headers should ever fail. If they do, only this client is affected. */
  #failed(request: HttpRequest, reply: HttpReply, error: unknown): void {
    if (request.signal.aborted) return;
    if (error instanceof ConnectionReset) return reply.abort();
    this.#log.error("Responding to a request failed", { method: request.method, path: request.path, error });
    reply.abort();
  }
}

/** Headers of the protocol that the client requests. The bearer token is for the API server only. */
const PROTOCOL_HEADERS = /^(?:sec-websocket-(?:extensions|key|version)|x-stream-protocol-version)$/;

function switchOffer(request: HttpRequest, { protocol }: TunnelOffer, webSocketProtocols: readonly string[]): SwitchOffer {
  const names = request.headerNames().filter((name) => PROTOCOL_HEADERS.test(name));
  const headers = Object.fromEntries(names.map((name) => [name, request.header(name) ?? ""]));
  if (webSocketProtocols.length === 0) return { protocol, headers };
  return { protocol, headers: { ...headers, "sec-websocket-protocol": webSocketProtocols.join(", ") } };
}

async function switchOver(tunnel: TunnelOffer, answer: TunnelledAnswer): Promise<void> {
  try {
    answer.tunnel(await tunnel.switch(answer.switching));
  } catch (error) {
    answer.abort();
    throw error;
  }
}

function send(request: HttpRequest, reply: HttpReply, answer: ExchangeAnswer): void {
  if ("switching" in answer) throw new Error("Cannot upgrade the connection: the client did not request an upgrade");
  if ("run" in answer) throw new Error("Cannot answer with a WebSocket: the client did not request one");
  if ("stream" in answer) answer.stream(reply.stream(answer));
  else sendWhole(request, reply, answer);
}

function sendWhole(request: HttpRequest, reply: HttpReply, answer: WholeAnswer): void {
  if (isToBeCompressed(request, answer)) reply.send({ code: answer.code, headers: withVary(answer.headers) }, answer.body, { gzip: true });
  else reply.send(answer, answer.body);
}
