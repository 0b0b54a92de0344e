/**
 * HTTP/2 without TLS on a port that also serves HTTP/1.1: a client that knows that the server speaks it (prior knowledge: RFC 9113, 3.3)
 * sends the connection preface first, which no request of HTTP/1.1 begins with. gRPC clients without TLS do so.
 */
import type { Server } from "node:http";
import type { Http2Server } from "node:http2";
import type { Socket } from "node:net";
import { DEFAULT_LIMITS } from "../limits.ts";
import { decideByFirstBytes } from "./first-bytes.ts";

/** Its first line, which decides: HTTP/1.1 has no method PRI. */
const PREFACE = Buffer.from("PRI * HTTP/2.0");

/** Routes each new connection of `plain` by its first bytes. */
export function servePreface(plain: Server, http2: Http2Server): void {
  // Node's own listener is the first one.
  const [serveHttp1] = plain.listeners("connection") as ((this: Server, socket: Socket) => void)[];
  if (serveHttp1 === undefined) throw new Error("Cannot serve HTTP/2 beside HTTP/1.1: Node's server has no listener for connections");
  plain.off("connection", serveHttp1);
  plain.on("connection", (socket: Socket) =>
    decideByFirstBytes(socket, {
      timeoutMs: DEFAULT_LIMITS.headersTimeoutMs,
      decide: beginsWithPreface,
      decided(isHttp2) {
        if (isHttp2) http2.emit("connection", socket);
        else serveHttp1.call(plain, socket);
      },
    }),
  );
}

function beginsWithPreface(head: Buffer): boolean | undefined {
  const compared = Math.min(head.length, PREFACE.length);
  const isSame = head.subarray(0, compared).equals(PREFACE.subarray(0, compared));
  // "P" may also be the beginning of POST.
  return isSame && compared < PREFACE.length ? undefined : isSame;
}
