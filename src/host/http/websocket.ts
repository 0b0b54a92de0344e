/** A WebSocket on an upgraded HTTP connection, by npm `ws`, which is loaded when the first is accepted. */
import { validateHeaderValue, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { WebSocketConnection } from "./contract.ts";
import { clientDisconnected } from "./exchange.ts";
import { WEBSOCKET_MESSAGE_BYTES_MAX, WEBSOCKET_PING_WINDOW_MS, WEBSOCKET_PINGS_MAX, WEBSOCKET_PONGS_WAITING_MAX } from "./limits.ts";

/** The subprotocols the client knows, best first. */
export function offeredProtocols({ headers }: IncomingMessage): readonly string[] {
  const names = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  return names.filter((name) => name !== "");
}

export function isGoodHandshake({ method, headers }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    headers.upgrade?.toLowerCase() === "websocket" &&
    /^[+/0-9A-Za-z]{22}==$/.test(headers["sec-websocket-key"] ?? "") &&
    ["13", "8"].includes(headers["sec-websocket-version"] ?? "")
  );
}

export interface WebSocketRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  /** Bytes that the client sent after its request. */
  readonly head: Buffer;
}

/**
 * Switches protocols. `protocol` "" is none. The response is written here: `ws` accepts only subprotocols that are HTTP tokens, and
 * Kubernetes has one with a slash.
 */
export function webSocketOn(
  Server: typeof WebSocketServer,
  { request, socket, head }: WebSocketRequest,
  protocol: string,
): Promise<WebSocketConnection> {
  const server = new Server({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    autoPong: false,
    maxPayload: WEBSOCKET_MESSAGE_BYTES_MAX,
  });
  if (protocol !== "") {
    validateHeaderValue("sec-websocket-protocol", protocol);
    server.on("headers", (headers) => void headers.push(`Sec-WebSocket-Protocol: ${protocol}`));
  }
  const { "sec-websocket-protocol": _, ...headers } = request.headers;
  const asked = Object.create(request, { headers: { value: headers } }) as IncomingMessage;
  return new Promise((resolve, reject) => {
    socket.once("close", () => reject(clientDisconnected()));
    server.handleUpgrade(asked, socket, head, (webSocket) => resolve(connectionOf(webSocket, protocol)));
  });
}

function connectionOf(webSocket: WebSocket, protocol: string): WebSocketConnection {
  const drained: (() => void)[] = [];
  // Not by the buffered amount: it includes pongs, for whose flush there is no event.
  let underWay = 0;
  const taken = () => {
    underWay -= 1;
    if (underWay === 0) for (const listener of drained) listener();
  };
  // Messages are queued until there is a listener. Invalid ones close the connection, which emits "close".
  webSocket.pause();
  webSocket.on("error", () => {});
  answerPings(webSocket);
  return {
    protocol,
    send(message, { binary }) {
      if (webSocket.readyState !== webSocket.OPEN) return 0;
      underWay += 1;
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

/** Answers pings, and closes the connection of a client that sends too many of them, or never reads the answers. */
function answerPings(webSocket: WebSocket): void {
  let windowEndMs = 0;
  let pings = 0;
  let waiting = 0;
  const taken = () => void waiting--;
  webSocket.on("ping", (data) => {
    const nowMs = performance.now();
    if (nowMs > windowEndMs) {
      windowEndMs = nowMs + WEBSOCKET_PING_WINDOW_MS;
      pings = 0;
    }
    if (++pings > WEBSOCKET_PINGS_MAX || ++waiting > WEBSOCKET_PONGS_WAITING_MAX) return webSocket.terminate();
    if (webSocket.readyState === webSocket.OPEN) webSocket.pong(data, false, taken);
  });
}
