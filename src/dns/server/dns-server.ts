/** The sockets of a DNS server: UDP and TCP on the same address and port. */
import { Disposables } from "../../base/disposables.ts";
import { openDatagramSocket } from "../../host/network/datagrams.ts";
import { startFramedServer } from "../../host/network/framed-tcp.ts";
import type { QueryHandler, Reply } from "./query-handler.ts";

export interface DnsSockets extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}

/** More connections than Pods of a node use at a time; each costs little, but file descriptors are limited. */
const CONNECTIONS_MAX = 1_000;

/** Pipelined queries of one connection that wait for an answer; reading pauses at it. */
const UNANSWERED_MAX = 64;

/** RFC 7766, 6.2.3: seconds. CoreDNS has 10. */
const IDLE_MS = 10_000;

/** Attempts to find a port that is free for both, if any port will do. */
const ATTEMPTS_MAX = 10;

/** `port` 0: any port. Rejects with a ListenError. */
export async function openDnsSockets({ host, port }: { host: string; port: number }, handler: QueryHandler): Promise<DnsSockets> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openBoth({ host, port }, handler);
    } catch (error) {
      // Another program had the TCP port of a UDP port that the kernel chose.
      if (port !== 0 || attempt >= ATTEMPTS_MAX) throw error;
    }
  }
}

async function openBoth({ host, port }: { host: string; port: number }, handler: QueryHandler): Promise<DnsSockets> {
  await using opening = new Disposables();
  const udp = opening.use(
    await openDatagramSocket({
      host,
      port,
      receive(bytes, from) {
        const reply: Reply = (response) => {
          if (response !== undefined) udp.send(response, from);
        };
        handler.receive(bytes, "udp", reply, from.address);
      },
    }),
  );
  opening.use(
    await startFramedServer({
      ...{ host, port: udp.port, connectionsMax: CONNECTIONS_MAX, unansweredMax: UNANSWERED_MAX, idleMs: IDLE_MS },
      receive: (bytes, answer) => handler.receive(bytes, "tcp", answer),
    }),
  );
  const owned = opening.move();
  return { host, port: udp.port, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}
