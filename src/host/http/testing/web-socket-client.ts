/** A WebSocket client for tests of rooms that may not know npm `ws` themselves. */
import { WebSocket } from "ws";

export interface WebSocketClientOptions {
  readonly protocols?: readonly string[];
  /** PEM. */
  readonly authority: string;
}

/** Emits the events of `ws`; failures are "close" and "unexpected-response". */
export function webSocketClient(url: string, { protocols = [], authority }: WebSocketClientOptions): WebSocket & Disposable {
  const socket = new WebSocket(url, [...protocols], { ca: authority });
  socket.on("error", () => {});
  return Object.assign(socket, { [Symbol.dispose]: () => socket.terminate() });
}
