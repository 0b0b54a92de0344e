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
  hold(direction?: Direction | "both"): void;
  /** Resolves when the next piece is held back. */
  heldBack(): Promise<void>;
  /** What was held back passes, on the connections that are still there. */
  release(): void;
  /** Breaks the connections there are. New ones are taken. */
  breakConnections(): void;
}

type Direction = "requests" | "answers";

/** One direction of one connection. */
interface Lane {
  readonly direction: Direction;
  readonly from: Socket;
  readonly to: Socket;
  held: Buffer[];
}

export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const lanes = new Set<Lane>();
  const holding = { requests: false, answers: false };
  let connections = 0;
  let onHeld: () => void = () => undefined;

  const pass = (lane: Lane, piece: Buffer) => {
    if (!holding[lane.direction]) return void lane.to.write(piece);
    lane.held.push(piece);
    onHeld();
  };
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(targetPort, "127.0.0.1");
    open({ direction: "requests", from: client, to: upstream, held: [] });
    open({ direction: "answers", from: upstream, to: client, held: [] });
  });
  const open = (lane: Lane) => {
    lanes.add(lane);
    lane.from.setNoDelay(true);
    lane.from.on("data", (piece: Buffer) => pass(lane, piece));
    lane.from.on("error", () => undefined);
    lane.from.once("close", () => {
      lanes.delete(lane);
      lane.to.destroy();
    });
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const breakConnections = () => {
    for (const { from } of lanes) from.resetAndDestroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    hold(wanted = "both") {
      for (const direction of ["requests", "answers"] as const) if (wanted === "both" || wanted === direction) holding[direction] = true;
    },
    heldBack: () => new Promise((resolve) => (onHeld = resolve)),
    release() {
      holding.requests = holding.answers = false;
      for (const lane of lanes) for (const piece of lane.held.splice(0)) lane.to.write(piece);
    },
    breakConnections,
    async [Symbol.asyncDispose]() {
      breakConnections();
      server.close();
      await once(server, "close");
    },
  };
}
