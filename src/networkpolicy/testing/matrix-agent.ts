/**
 * A process of the matrix inside the network namespace of one Pod: serves ports and probes others, as its parent commands by IPC. Exits
 * with its parent. Not here: its handle (matrix-topology.ts).
 */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { connect, createServer, type Socket } from "node:net";

export interface Target {
  readonly address: string;
  readonly port: number;
  readonly protocol: "TCP" | "UDP";
}

export type MatrixCommand =
  | { readonly kind: "serve"; readonly ports: readonly number[] }
  /** Answers the indexes of the targets that responded. Waits long for those that must, and shortly for the others after them. */
  | { readonly kind: "probe"; readonly targets: readonly (Target & { readonly mustAnswer: boolean })[] }
  /** Opens a connection and keeps it, one per protocol. */
  | ({ readonly kind: "hold" } & Target)
  /** Sends a byte over the kept connection: [1] if it is echoed, [0] if the connection ended or nothing came. */
  | { readonly kind: "exchange"; readonly protocol: Target["protocol"]; readonly mustAnswer: boolean }
  /** Sends datagrams of new connections all the time, until "flooded". */
  | ({ readonly kind: "flood" } & Target)
  /** Answers the number of datagrams that were echoed up to now. Ends with the first if `untilAnswer`, otherwise at once. */
  | { readonly kind: "flooded"; readonly untilAnswer: boolean };

/** Reached only on failure: a loaded machine may need long for what takes milliseconds alone. */
const ANSWER_WITHIN_MS = 60_000;
/** How long a probe is watched that must not be answered. A slow machine can only hide a wrong answer, never cause a failure. */
const SILENCE_MS = 150;
/** A datagram may be lost while a neighbour's address is resolved. */
const RESEND_EVERY_MS = 300;

/** Between two datagrams of a flood: a gap in the rules longer than this is noticed. */
const FLOOD_EVERY_MS = 2;
/** Open sockets of a flood: an answer comes long before so many more are sent. */
const FLOOD_SOCKETS_MAX = 200;

let held: Socket | undefined;
let heldUdp: { readonly socket: UdpSocket; readonly target: Target } | undefined;
let flood: Flood | undefined;

async function execute(command: MatrixCommand): Promise<readonly number[]> {
  switch (command.kind) {
    case "serve":
      await Promise.all(command.ports.flatMap((port) => [serveTcp(port), serveUdp(port)]));
      return [];
    case "probe":
      return probeAll(command.targets);
    case "hold":
      if (command.protocol === "UDP") {
        heldUdp = { socket: createSocket("udp4"), target: command };
        return [(await echoedUdp(heldUdp, ANSWER_WITHIN_MS)) ? 1 : 0];
      }
      held = connect({ host: command.address, port: command.port });
      held.on("error", () => {}); // The exchange reports it.
      return [(await echoed(held, ANSWER_WITHIN_MS)) ? 1 : 0];
    case "exchange":
      return [(await exchange(command.protocol, command.mustAnswer ? ANSWER_WITHIN_MS : SILENCE_MS)) ? 1 : 0];
    case "flood":
      flood = new Flood(command);
      return [];
    case "flooded":
      if (command.untilAnswer) await Promise.race([flood?.answered, pause(ANSWER_WITHIN_MS)]);
      flood?.stop();
      return [flood?.answers ?? 0];
    default:
      return command satisfies never;
  }
}

/** On all addresses, of IPv4, too. */
function serveTcp(port: number): Promise<void> {
  const server = createServer((socket) => {
    socket.on("error", () => {}); // The client reports it.
    socket.pipe(socket);
  });
  return new Promise((resolve, reject) => server.once("error", reject).listen(port, "::", resolve));
}

function serveUdp(port: number): Promise<void> {
  const socket = createSocket("udp4");
  socket.on("message", (bytes, { address, port: clientPort }) => socket.send(bytes, clientPort, address));
  return new Promise((resolve, reject) => socket.once("error", reject).bind(port, "0.0.0.0", resolve));
}

async function probeAll(targets: readonly (Target & { readonly mustAnswer: boolean })[]): Promise<readonly number[]> {
  const reached = new Set<number>();
  const end = new AbortController();
  const probes = targets.map((target, index) => probe(target, end.signal).then((isReached) => void (isReached && reached.add(index))));
  await Promise.race([Promise.all(probes.filter((_, index) => targets[index]?.mustAnswer)), pause(ANSWER_WITHIN_MS)]);
  await Promise.race([Promise.all(probes), pause(SILENCE_MS)]);
  end.abort();
  return [...reached].sort((a, b) => a - b);
}

function probe({ protocol, address, port }: Target, signal: AbortSignal): Promise<boolean> {
  return protocol === "TCP" ? probeTcp(address, port, signal) : probeUdp(address, port, signal);
}

function probeTcp(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (isReached: boolean): void => {
      socket.resetAndDestroy();
      resolve(isReached);
    };
    signal.addEventListener("abort", () => finish(false), { once: true });
    socket.once("connect", () => socket.write("?"));
    socket.once("data", () => finish(true));
    socket.on("error", () => finish(false));
  });
}

function probeUdp(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const send = (): void => socket.send("?", port, host);
    const timer = setInterval(send, RESEND_EVERY_MS);
    const finish = (isReached: boolean): void => {
      clearInterval(timer);
      signal.removeEventListener("abort", abort);
      socket
        .removeAllListeners()
        .on("error", () => {})
        .close();
      resolve(isReached);
    };
    const abort = (): void => finish(false);
    signal.addEventListener("abort", abort, { once: true });
    socket.once("message", () => finish(true));
    socket.on("error", () => finish(false));
    socket.bind(0, "0.0.0.0", send);
  });
}

async function exchange(protocol: Target["protocol"], limitMs: number): Promise<boolean> {
  if (protocol === "TCP") return held !== undefined && (await echoed(held, limitMs));
  return heldUdp !== undefined && (await echoedUdp(heldUdp, limitMs));
}

function echoedUdp({ socket, target }: NonNullable<typeof heldUdp>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const send = (): void => socket.send("?", target.port, target.address);
    const finish = (isEchoed: boolean): void => {
      clearInterval(timer);
      clearTimeout(limit);
      socket.removeAllListeners("message");
      resolve(isEchoed);
    };
    const limit = setTimeout(() => finish(false), limitMs);
    const timer = setInterval(send, RESEND_EVERY_MS);
    socket.once("message", () => finish(true));
    socket.removeAllListeners("error").on("error", () => {}); // Nothing comes.
    send();
  });
}

class Flood {
  /** Resolves with the first. */
  readonly answered: Promise<void>;
  answers = 0;
  readonly #timer: NodeJS.Timeout;
  readonly #sockets: UdpSocket[] = [];

  constructor({ address, port }: Target) {
    let first = (): void => {};
    this.answered = new Promise((resolve) => (first = resolve));
    // A new socket is a new connection: the kernel decides about it without remembering.
    this.#timer = setInterval(() => {
      const socket = createSocket("udp4");
      this.#sockets.push(socket);
      if (this.#sockets.length > FLOOD_SOCKETS_MAX) this.#sockets.shift()?.close();
      socket.on("error", () => {}); // Nothing comes.
      socket.on("message", () => {
        this.answers++;
        first();
      });
      socket.send("?", port, address);
    }, FLOOD_EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
    for (const socket of this.#sockets.splice(0)) socket.close();
  }
}

function echoed(socket: Socket, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const finish = (isEchoed: boolean): void => {
      clearTimeout(timer);
      socket.removeListener("data", answer).removeListener("close", ended);
      resolve(isEchoed);
    };
    const answer = (): void => finish(true);
    const ended = (): void => finish(false);
    const timer = setTimeout(() => finish(false), limitMs);
    if (socket.destroyed) return finish(false);
    socket.on("data", answer).on("close", ended);
    socket.write("?");
  });
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

process.on("message", ({ id, command }: { readonly id: number; readonly command: MatrixCommand }) => {
  void execute(command).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.on("disconnect", () => process.exit());
process.send?.({ id: 0, answer: [] });
