/** Connections after a switch of protocols (WebSocket and others): bytes are passed on in both directions until either side ends. */
import type { Socket } from "node:net";
import { TCP_KEEPALIVE_MS } from "../limits.ts";

/** The head of the answer that switches protocols: the endpoint's headers, which agree on the protocol. */
export function switchHead(rawHeaders: readonly string[], more: readonly string[]): string {
  const lines: string[] = [];
  const all = [...rawHeaders, ...more];
  for (let index = 0; index + 1 < all.length; index += 2) lines.push(`${all[index]}: ${all[index + 1]}\r\n`);
  return `HTTP/1.1 101 Switching Protocols\r\n${lines.join("")}\r\n`;
}

interface Side {
  readonly socket: Socket;
  /** Bytes that were received together with the head. */
  readonly head: Buffer;
}

/** Takes both sockets over. */
export function joinSockets(sides: { readonly client: Side; readonly endpoint: Side; readonly idleTimeoutMs: number }): void {
  const { client, endpoint, idleTimeoutMs } = sides;
  const sockets = [client.socket, endpoint.socket];
  const end = () => {
    for (const socket of sockets) socket.destroy();
  };
  for (const socket of sockets) {
    socket.on("error", end).on("close", end);
    socket.setNoDelay(true).setKeepAlive(true, TCP_KEEPALIVE_MS);
    // Traffic in either direction is progress on both sockets.
    socket.setTimeout(idleTimeoutMs, end);
  }
  if (client.head.length > 0) endpoint.socket.write(client.head);
  if (endpoint.head.length > 0) client.socket.write(endpoint.head);
  client.socket.pipe(endpoint.socket);
  endpoint.socket.pipe(client.socket);
}
