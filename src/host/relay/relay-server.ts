/**
 * Receives requests that another process of this program has taken from clients and relays (relay-client.ts): HTTP/1.1 over a private Unix
 * socket, with the client in a header that only the relaying process sets. A request is served as if the client had connected here.
 */
import { chmod } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { Lru } from "../../base/lru.ts";
import { PRIVATE_FILE_MODE } from "../files/files.ts";
import type { HttpHandler, HttpPeer } from "../http/contract.ts";
import { EndOfTick } from "../http/end-of-tick.ts";
import type { ExchangeContext, NodeExchange } from "../http/exchange.ts";
import { Http1Exchange } from "../http/http1.ts";
import { DEFAULT_LIMITS, type HttpLimits } from "../http/limits.ts";
import { createHttpServer, handleHttp1 } from "../http/node-servers.ts";
import { upgradeExchange } from "../http/upgrade.ts";

/** Header with the client of a relayed request. */
export const PEER_HEADER = "x-k8ts-relayed-peer";

/** Clients whose description is kept: as many as have a connection, in the usual case. */
const PEERS_MAX = 4_096;

export interface RelayServerOptions {
  /** A short path in a directory that only this user can access. */
  readonly path: string;
  readonly limits?: Partial<HttpLimits>;
  readonly bodyTooLarge: (limitBytes: number) => Error;
  readonly handler: HttpHandler;
}

/** Disposing closes all connections; what is relayed is not waited for, since its clients' servers stop first. */
export async function startRelayServer({ path, handler, bodyTooLarge, limits }: RelayServerOptions): Promise<AsyncDisposable> {
  const context: ExchangeContext = {
    limits: { ...DEFAULT_LIMITS, ...limits },
    endOfTick: new EndOfTick(),
    running: new Set<NodeExchange>(),
    bodyTooLarge,
    stopping: false,
    overWhenStopping: () => undefined,
  };
  // The relaying process keeps connections for reuse; its own server has the timeouts.
  const server = createHttpServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 });
  const peers = new Peers();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  handleHttp1(server, {
    request: (request, response, clientWaits) => {
      const exchange = new Http1Exchange(context, peers.take(request), { request, response, clientWaits });
      handler(exchange, exchange);
    },
    upgrade: (upgrade) => {
      const { exchange, offer, tunnel } = upgradeExchange(context, peers.take(upgrade.request), upgrade);
      handler(exchange, exchange, offer, tunnel);
    },
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ path }, resolve));
  await chmod(path, PRIVATE_FILE_MODE);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

class Peers {
  readonly #known = new Lru<string, HttpPeer>({ max: PEERS_MAX });

  /** Removes the header: what the request is forwarded to must not see it. */
  take({ headers, rawHeaders }: IncomingMessage): HttpPeer {
    const text = String(headers[PEER_HEADER] ?? "");
    delete headers[PEER_HEADER];
    const index = rawHeaders.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === PEER_HEADER);
    if (index >= 0) rawHeaders.splice(index, 2);
    let peer = this.#known.get(text);
    if (peer === undefined) this.#known.set(text, (peer = JSON.parse(Buffer.from(text, "base64url").toString()) as HttpPeer));
    return peer;
  }
}
