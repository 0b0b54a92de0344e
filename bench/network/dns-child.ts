/** Servers of dns.ts in a process of their own: the DNS server with the Services of an API server in the same process, and an echo. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServices, startClusterDns, type ClusterDns } from "../../src/testing/servers/cluster-dns.ts";
import { collectGarbage, serve } from "../serve.ts";

let cluster: ClusterDns | undefined;

const tasks = {
  /** Resolves with the port. */
  async dns({ count }: { readonly count: number }): Promise<number> {
    cluster = await startClusterDns();
    await createServices(
      cluster.client,
      Array.from({ length: count }, (_, index) => `service-${index}`),
    );
    collectGarbage();
    return cluster.peer.port;
  },

  /** The least that a UDP server in Node can do. */
  async echo(_input: null): Promise<number> {
    const socket = createSocket("udp4");
    socket.on("message", (bytes, { port, address }) => socket.send(bytes, port, address));
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return socket.address().port;
  },
};

export type DnsTasks = typeof tasks;

serve(tasks);
