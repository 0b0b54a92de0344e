/**
 * A process of the traffic suite inside one network namespace: serves TCP and UDP ports that answer with their name and the client's
 * address, and sends requests to others, as its parent commands by IPC. Exits with its parent. Not here: its handle (traffic-topology.ts).
 */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { connect, createServer } from "node:net";

/** Where a server listens, or a request goes. */
export interface TrafficTarget {
  readonly protocol: "TCP" | "UDP";
  readonly address: string;
  readonly port: number;
}

export type AgentCommand =
  | ({ readonly kind: "listen"; readonly name: string } & TrafficTarget)
  | ({ readonly kind: "request"; readonly from?: string; readonly count: number; readonly timeoutMs: number } & TrafficTarget);

/** A server's answer: which one it was, and the client's address as the server sees it. */
export type Outcome = { readonly by: string; readonly client: string } | { readonly failure: string };

/** The failure of a request that nothing answered in time. */
export const NO_ANSWER = "no answer";
/** The failure of a request that was rejected at once. */
export const REFUSED = "refused";

/** A datagram may be lost while a neighbour's address is resolved. */
const RESEND_EVERY_MS = 250;

async function execute(command: AgentCommand): Promise<readonly Outcome[]> {
  if (command.kind === "listen") {
    await (command.protocol === "TCP" ? listenTcp(command) : listenUdp(command));
    return [];
  }
  return Promise.all(Array.from({ length: command.count }, () => (command.protocol === "TCP" ? requestTcp(command) : requestUdp(command))));
}

function listenTcp({ name, address, port }: TrafficTarget & { readonly name: string }): Promise<void> {
  const server = createServer((socket) => {
    socket.on("error", () => {}); // The client reports it.
    socket.end(JSON.stringify({ by: name, client: plain(socket.remoteAddress ?? "") }));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: address }, resolve);
  });
}

function listenUdp({ name, address, port }: TrafficTarget & { readonly name: string }): Promise<void> {
  const socket = udpSocketFor(address);
  socket.on("message", (_, { address: client, port: clientPort }) => {
    socket.send(JSON.stringify({ by: name, client: plain(client) }), clientPort, client);
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(port, address, resolve);
  });
}

type Request = TrafficTarget & { readonly from?: string; readonly timeoutMs: number };

function requestTcp({ address, port, from, timeoutMs }: Request): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, ...(from === undefined ? {} : { localAddress: from }) });
    let answer = "";
    const finish = (outcome: Outcome) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(outcome);
    };
    const timer = setTimeout(() => finish({ failure: NO_ANSWER }), timeoutMs);
    socket.setEncoding("utf8");
    socket.on("data", (piece) => (answer += String(piece)));
    socket.on("end", () => finish(answer === "" ? { failure: "closed without an answer" } : (JSON.parse(answer) as Outcome)));
    socket.on("error", (error: NodeJS.ErrnoException) => finish({ failure: failureOf(error) }));
  });
}

function requestUdp({ address, port, from, timeoutMs }: Request): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = udpSocketFor(address);
    let resend: NodeJS.Timeout | undefined;
    const finish = (outcome: Outcome) => {
      clearTimeout(timer);
      clearInterval(resend);
      socket.removeAllListeners();
      socket.on("error", () => {});
      socket.close();
      resolve(outcome);
    };
    const timer = setTimeout(() => finish({ failure: NO_ANSWER }), timeoutMs);
    socket.on("error", (error: NodeJS.ErrnoException) => finish({ failure: failureOf(error) }));
    socket.on("message", (answer) => finish(JSON.parse(answer.toString()) as Outcome));
    // A connected socket receives the kernel's ICMP errors and only the answers of its peer: those whose address is translated back.
    const ask = () => socket.send("?", (error) => error !== null && finish({ failure: failureOf(error) }));
    socket.bind(0, from, () =>
      socket.connect(port, address, () => {
        ask();
        resend = setInterval(ask, RESEND_EVERY_MS);
      }),
    );
  });
}

function udpSocketFor(address: string): UdpSocket {
  return createSocket(address.includes(":") ? { type: "udp6", ipv6Only: true } : { type: "udp4" });
}

function failureOf({ code, message }: NodeJS.ErrnoException): string {
  return code === "ECONNREFUSED" ? REFUSED : (code ?? message);
}

/** Without the prefix of IPv4 addresses on IPv6 sockets. */
function plain(address: string): string {
  return address.replace(/^::ffff:/, "");
}

process.on("message", (message: { readonly id: number; readonly command: AgentCommand }) => {
  void execute(message.command).then(
    (outcomes) => process.send?.({ id: message.id, outcomes }),
    (error: unknown) => process.send?.({ id: message.id, error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ id: 0, outcomes: [] });
