/**
 * Protocol upgrades of HTTP/1.1 requests: WebSocket, or raw bytes. Until the upgrade the request is an ordinary exchange, and a response
 * rejects it. Node detaches a connection with an upgrade request, so it is closed after the response.
 */
import { ServerResponse, validateHeaderName, validateHeaderValue, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { ByteStream } from "../../base/byte-stream.ts";
import { streamOfSocket } from "../network/byte-streams.ts";
import type { HttpPeer, TunnelOffer, WebSocketConnection, WebSocketOffer } from "./contract.ts";
import { clientDisconnected, type ExchangeContext } from "./exchange.ts";
import { Http1Exchange } from "./http1.ts";
import { isGoodHandshake, offeredProtocols, webSocketOn } from "./websocket.ts";

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Socket;
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
}

export interface Upgrade {
  readonly exchange: Http1Exchange;
  /** Undefined: not a WebSocket request, or an invalid one. */
  readonly offer: WebSocketOffer | undefined;
  readonly tunnel: TunnelOffer;
}

export function upgradeExchange(context: ExchangeContext, peer: HttpPeer, upgrade: UpgradeRequest): Upgrade {
  const exchange = new UpgradeExchange(context, peer, upgrade);
  const { request } = upgrade;
  const offer = { protocols: offeredProtocols(request), accept: (protocol = "") => exchange.accept(protocol) };
  const tunnel: TunnelOffer = { protocol: request.headers.upgrade ?? "", switch: (headers) => exchange.switch(headers) };
  return { exchange, offer: isGoodHandshake(request) ? offer : undefined, tunnel };
}

class UpgradeExchange extends Http1Exchange {
  readonly #upgrade: UpgradeRequest;

  constructor(context: ExchangeContext, peer: HttpPeer, upgrade: UpgradeRequest) {
    const { request, socket } = upgrade;
    const response = new ServerResponse(request);
    super(context, peer, { request, response, clientWaits: false });
    this.#upgrade = upgrade;
    // Node has detached the socket: an unhandled error event would terminate the process.
    socket.on("error", () => {});
    response.shouldKeepAlive = false;
    response.assignSocket(request.socket);
    response.on("finish", () => request.socket.destroySoon());
  }

  /** Node does not read the body of an upgrade request. */
  override body(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array());
  }

  async accept(protocol: string): Promise<WebSocketConnection> {
    const { WebSocketServer } = await import("ws");
    this.#letGo();
    return webSocketOn(WebSocketServer, this.#upgrade, protocol);
  }

  async switch(headers: Readonly<Record<string, string>>): Promise<ByteStream> {
    const { socket, head } = this.#upgrade;
    const answer = switchingHead(headers);
    this.#letGo();
    socket.write(answer);
    return streamOfSocket(socket, head);
  }

  /** The socket no longer belongs to the response; the exchange continues until it is closed. */
  #letGo(): void {
    const { request, socket } = this.#upgrade;
    if (socket.destroyed || this.out.headersSent) throw clientDisconnected();
    this.out.detachSocket(request.socket);
    socket.once("close", () => this.over());
  }
}

function switchingHead(headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries(headers).map(([name, value]) => {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return `${name}: ${value}\r\n`;
  });
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}
