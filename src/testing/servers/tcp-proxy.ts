/**
 * A TCP proxy between a client and a server under test: it forwards bytes until a test stalls it (as a stalled network does) or resets all
 * connections (as a dying machine does).
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface TcpProxy extends AsyncDisposable {
  readonly port: number;
  /** Number of connections so far. */
  readonly connections: number;
  /** From now on nothing passes in this direction, or in both; new connections are accepted and stay silent. */
  hold(direction?: Direction | "both"): void;
  /** Resolves when the next chunk is held back. */
  heldBack(): Promise<void>;
  /** Forwards what was held back, on the connections that are still open. */
  release(): void;
  /** Resets the open connections. New ones are accepted. */
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
