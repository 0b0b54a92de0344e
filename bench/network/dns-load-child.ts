/** The client of dns.ts in a process of its own: keeps a number of queries in flight, and measures each. */
import { createSocket } from "node:dgram";
import { query } from "../../src/dns/testing/plugin-context.ts";
import { writeForwarded } from "../../src/dns/wire/write-message.ts";
import { serve } from "../serve.ts";

const IDS = 0x1_0000;
const LOST_AFTER_MS = 1_000;

interface LoadOptions {
  readonly port: number;
  readonly services: number;
  readonly queries: number;
  readonly inFlight: number;
}

const tasks = {
  async load({ port, services, queries, inFlight }: LoadOptions): Promise<{ readonly perSecond: number; readonly p99Ms: number }> {
    const packets = Array.from({ length: services }, (_, index) =>
      Buffer.from(writeForwarded({ ...query(`service-${index}.default.svc.cluster.local`), edns: undefined }, 0)),
    );
    const socket = createSocket({ type: "udp4", lookup: (address, _options, found) => found(null, address, 4) });
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    socket.setRecvBufferSize(4 * 1024 * 1024);
    const sentMs = new Float64Array(IDS);
    const durations = new Float64Array(queries);
    let sent = 0;
    let received = 0;
    const ignored = () => {};
    const send = () => {
      const id = sent % IDS;
      const packet = Buffer.from(packets[(sent * 7_919) % packets.length] as Buffer);
      packet.writeUInt16BE(id, 0);
      sentMs[id] = performance.now();
      sent++;
      socket.send(packet, 0, packet.length, port, "127.0.0.1", ignored);
    };
    const startMs = performance.now();
    await new Promise<void>((resolve) => {
      let lastMs = startMs;
      // A lost datagram would leave one query less in flight for ever.
      const watching = setInterval(() => {
        if (performance.now() - lastMs > LOST_AFTER_MS) for (let count = 0; count < inFlight; count++) send();
      }, LOST_AFTER_MS);
      socket.on("message", (bytes) => {
        lastMs = performance.now();
        if (received === queries) return;
        durations[received++] = lastMs - (sentMs[bytes.readUInt16BE(0)] as number);
        if (received < queries) return send();
        clearInterval(watching);
        resolve();
      });
      for (let count = 0; count < inFlight; count++) send();
    });
    const elapsedS = (performance.now() - startMs) / 1_000;
    socket.close();
    durations.sort();
    return { perSecond: queries / elapsedS, p99Ms: durations[Math.floor(queries * 0.99)] ?? 0 };
  },
};

export type DnsLoadTasks = typeof tasks;

serve(tasks);
