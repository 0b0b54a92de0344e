/**
 * A hand on the wire between a client and a server under test: a port of its own that passes bytes on, until it is told to
 * hold them back (as a stalled network does) or to break every connection (as a dying machine does).
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Connections made through it so far. */
  readonly connections: number;
  /** From now on nothing passes in this direction, or neither; new connections are taken and stay silent. */
  hold(direction?: "requests" | "answers" | "both"): void;
  /** What was held back passes, on the connections that are still there. */
  release(): void;
  /** Breaks the connections there are. New ones are taken. */
  breakConnections(): void;
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  /** Where the bytes of each direction come from. */
  const sources = { requests: new Set<Socket>(), answers: new Set<Socket>() };
  const held = { requests: false, answers: false };
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(targetPort, "127.0.0.1");
    for (const [direction, from, to] of [
      ["requests", client, upstream],
      ["answers", upstream, client],
    ] as const) {
      sources[direction].add(from);
      from.setNoDelay(true);
      from.pipe(to);
      if (held[direction]) from.pause();
      from.on("error", () => undefined);
      from.once("close", () => {
        sources[direction].delete(from);
        to.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const breakConnections = () => {
    for (const socket of [...sources.requests, ...sources.answers]) socket.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    hold(wanted = "both") {
      for (const direction of ["requests", "answers"] as const) {
        if (wanted !== "both" && wanted !== direction) continue;
        held[direction] = true;
        for (const socket of sources[direction]) socket.pause();
      }
    },
    release() {
      for (const direction of ["requests", "answers"] as const) {
        held[direction] = false;
        for (const socket of sources[direction]) socket.resume();
      }
    },
    breakConnections,
    async [Symbol.asyncDispose]() {
      breakConnections();
      server.close();
      await once(server, "close");
    },
  };
}
