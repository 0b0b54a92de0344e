/**
 * A load balancer for several servers: one port, and each new connection goes to the first server that accepts one. A dying server breaks
 * its connections, as it would without a balancer; clients that reconnect reach one that is up. It checks nothing but whether a server
 * accepts connections, so a test knows the target of each client. Not here: a proxy that stalls connections on purpose (tcp-proxy.ts).
 */
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface Target {
  readonly host: string;
  readonly port: number;
}

export interface LoadBalancer extends AsyncDisposable {
  readonly port: number;
}

/** `targets`: in order of preference. */
export async function startLoadBalancer(targets: readonly Target[]): Promise<LoadBalancer> {
  const open = new Set<Socket>();
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client, open);
    void connectToAny(targets).then((upstream) => {
      if (upstream === undefined) return void client.resetAndDestroy();
      keep(upstream, open);
      join(client, upstream);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

/** Undefined if none accepts a connection. */
async function connectToAny(targets: readonly Target[]): Promise<Socket | undefined> {
  for (const target of targets) {
    const socket = connect(target);
    const isThere = await Promise.race([once(socket, "connect").then(() => true), once(socket, "close").then(() => false)]).catch(
      () => false,
    );
    if (isThere) return socket;
  }
  return undefined;
}

function keep(socket: Socket, open: Set<Socket>): void {
  open.add(socket);
  socket.setNoDelay(true);
  socket.on("error", () => undefined);
  socket.once("close", () => open.delete(socket));
}

/** Pipes both directions; the end of one socket ends the other. */
function join(one: Socket, other: Socket): void {
  one.pipe(other);
  other.pipe(one);
  one.once("close", () => other.destroy());
  other.once("close", () => one.destroy());
  if (one.destroyed) other.destroy();
}
