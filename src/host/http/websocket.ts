/**
 * A request to become a WebSocket (HTTP/1.1 only), on npm `ws`, which is loaded when the first is accepted. Until then the request is
 * an ordinary exchange and can be answered as one, which refuses it. Node gives up a connection that asks for an upgrade, so it ends
 * with the answer.
 */
import { ServerResponse, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { HttpPeer, WebSocketConnection, WebSocketOffer } from "./contract.ts";
import { clientGone, type ExchangeContext } from "./exchange.ts";
import { Http1Exchange } from "./http1.ts";
import { WEBSOCKET_MESSAGE_BYTES_MAX } from "./limits.ts";

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** What the client has sent after its request. */
  readonly head: Buffer;
}

/** Undefined as offer: the client asks for something that is no WebSocket, or no good one. It is a request like any other then. */
export function upgradeExchange(
  context: ExchangeContext,
  peer: HttpPeer,
  upgrade: UpgradeRequest,
): { readonly exchange: Http1Exchange; readonly offer: WebSocketOffer | undefined } {
  const exchange = new UpgradeExchange(context, peer, upgrade);
  const protocols = (upgrade.request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const offer = {
    protocols: protocols.filter((name) => name !== ""),
    accept: (protocol = "") => exchange.accept(upgrade, protocol),
  };
  return { exchange, offer: isGoodHandshake(upgrade.request) ? offer : undefined };
}

function isGoodHandshake({ method, headers }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "") &&
    ["13", "8"].includes(headers["sec-websocket-version"] ?? "")
  );
}

class UpgradeExchange extends Http1Exchange {
  constructor(context: ExchangeContext, peer: HttpPeer, { request, socket }: UpgradeRequest) {
    const response = new ServerResponse(request);
    super(context, peer, { request, response, clientWaits: false });
    // Node has let go of the socket: an error nobody listens to would end the process.
    socket.on("error", () => {});
    response.shouldKeepAlive = false;
    response.assignSocket(request.socket);
    response.on("finish", () => request.socket.destroySoon());
  }

  /** Node does not read the body of such a request. */
  override body(): Promise<Uint8Array> {
    return Promise.resolve(new Uint8Array());
  }

  async accept({ request, socket, head }: UpgradeRequest, protocol: string): Promise<WebSocketConnection> {
    const { WebSocketServer } = await import("ws");
    if (socket.destroyed) throw clientGone();
    this.out.detachSocket(request.socket);
    socket.once("close", () => this.over());
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: WEBSOCKET_MESSAGE_BYTES_MAX,
      handleProtocols: () => (protocol === "" ? false : protocol),
    });
    return new Promise((resolve, reject) => {
      socket.once("close", () => reject(clientGone()));
      server.handleUpgrade(request, socket, head, (webSocket) => resolve(connectionOf(webSocket)));
    });
  }
}

function connectionOf(webSocket: WebSocket): WebSocketConnection {
  const drained: (() => void)[] = [];
  const taken = () => {
    if (webSocket.bufferedAmount === 0) for (const listener of drained) listener();
  };
  // Messages wait until somebody listens. What is wrong with them closes the connection, which is told by "close".
  webSocket.pause();
  webSocket.on("error", () => {});
  return {
    protocol: webSocket.protocol,
    send(message, { binary }) {
      if (webSocket.readyState !== webSocket.OPEN) return 0;
      webSocket.send(message, { binary }, taken);
      return webSocket.bufferedAmount;
    },
    onMessage(listener) {
      webSocket.on("message", (message: Buffer, binary: boolean) => listener(message, { binary }));
      webSocket.resume();
    },
    pause: () => webSocket.pause(),
    resume: () => webSocket.resume(),
    close: (code = 1000, reason = "") => webSocket.close(code, reason),
    abort: () => webSocket.terminate(),
    onClosed: (listener) => {
      if (webSocket.readyState === webSocket.CLOSED) listener();
      else webSocket.once("close", listener);
    },
    onDrained: (listener) => void drained.push(listener),
  };
}
