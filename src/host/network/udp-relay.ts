/**
 * Listens on a UDP port and forwards datagrams of each client (address and port) to its target, answers back to it. A client keeps its
 * target while it sends; when the target refuses, the datagram is sent to the next one. Flows end after an idle timeout; beyond the budget
 * the one that was idle longest is replaced. Answers come from the address that the client sent to. Not here: which targets (the caller's `targets`).
 */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { ListenError } from "../http/server.ts";
import { localAddresses } from "./network-address.ts";
import type { Relay, RelayOptions, RelayTarget } from "./tcp-relay.ts";

/** As the kernel's conntrack keeps UDP streams that were answered. */
const IDLE_MAX_MS = 120_000;
const SWEEP_EVERY_MS = 10_000;
/** Datagrams of a flow that wait for its socket to be connected, a matter of microseconds. */
const WAITING_MAX = 64;

/** Ports that are free on one address may be used on another. */
const PORT_ATTEMPTS_MAX = 10;

export async function startUdpRelay(options: RelayOptions): Promise<Relay> {
  const relay = await UdpRelay.open(options);
  return {
    port: relay.port,
    prune: (keeps) => relay.prune(keeps),
    refresh: () => relay.bindAll(),
    [Symbol.asyncDispose]: () => relay.close(),
  };
}

/**
 * The addresses to bind. A socket on all addresses would answer from the address that the route to the client has, which may be another one
 * than the client sent to.
 */
function hostsOf({ host }: RelayOptions): readonly string[] {
  if (host === "0.0.0.0") return localAddresses().filter((address) => !address.includes(":"));
  return host === "::" ? localAddresses().filter((address) => address.includes(":")) : [host];
}

async function bind(host: string, port: number): Promise<Socket> {
  const socket = createSocket({ type: host.includes(":") ? "udp6" : "udp4", ipv6Only: host.includes(":") });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    socket.bind({ address: host, port }, resolve);
  });
  // Errors of a bound socket are ICMP answers to datagrams of single clients.
  socket.removeAllListeners("error").on("error", () => {});
  return socket;
}

class UdpRelay {
  readonly #options: RelayOptions;
  /** By address. */
  readonly #sockets = new Map<string, Socket>();
  /** By client and the address that it sends to, in the order of last use. */
  readonly #flows = new Map<string, Flow>();
  readonly #sweeper: NodeJS.Timeout;
  #port: number;
  #isClosed = false;

  private constructor(options: RelayOptions) {
    this.#options = options;
    this.#port = options.port;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_EVERY_MS).unref();
  }

  static async open(options: RelayOptions): Promise<UdpRelay> {
    for (let attempt = 1; ; attempt++) {
      const relay = new UdpRelay(options);
      try {
        await relay.bindAll();
        return relay;
      } catch (error) {
        await relay.close();
        const isTaken = error instanceof ListenError && error.code === "EADDRINUSE";
        if (options.port !== 0 || !isTaken || attempt === PORT_ATTEMPTS_MAX) throw error;
      }
    }
  }

  get port(): number {
    return this.#port;
  }

  /** Binds addresses that the machine got meanwhile, all with the same port, and closes those of addresses that it lost. */
  async bindAll(): Promise<void> {
    const hosts = hostsOf(this.#options);
    for (const host of hosts) {
      if (this.#sockets.has(host)) continue;
      const socket = await bind(host, this.#port);
      this.#port = socket.address().port;
      this.#sockets.set(host, socket);
      socket.on("message", (data, from) => this.#receive(data, from, socket));
    }
    for (const [host, socket] of this.#sockets) {
      if (hosts.includes(host)) continue;
      this.#sockets.delete(host);
      socket.close();
    }
  }

  prune(keeps: (target: RelayTarget) => boolean): void {
    for (const [key, flow] of this.#flows) if (!keeps(flow.target)) this.#end(key, flow);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#sweeper);
    for (const [key, flow] of this.#flows) this.#end(key, flow);
    await Promise.all([...this.#sockets.values()].map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))));
  }

  #receive(data: Buffer, from: RemoteInfo, socket: Socket): void {
    const key = `${from.address} ${from.port} ${socket.address().address}`;
    const flow = this.#flows.get(key) ?? this.#open(key, { from, socket }, this.#options.targets(from.address));
    if (flow === undefined) return;
    this.#flows.delete(key);
    this.#flows.set(key, flow);
    flow.send(data);
  }

  /** Undefined: there is no target, or no free slot although the oldest flow was ended. */
  #open(
    key: string,
    client: { readonly from: RemoteInfo; readonly socket: Socket },
    [target, ...others]: readonly RelayTarget[],
  ): Flow | undefined {
    if (target === undefined || !this.#acquireSlot()) return undefined;
    const { from, socket } = client;
    this.#options.connected?.(from.address, target);
    const flow = new Flow(target, {
      answer: (data) => {
        if (!this.#isClosed) socket.send(data, from.port, from.address, () => {});
      },
      refused: (last) => {
        this.#end(key, flow);
        // As a client that is refused would send it again.
        if (last !== undefined && !this.#isClosed) this.#open(key, client, others)?.send(last);
      },
    });
    this.#flows.set(key, flow);
    return flow;
  }

  #acquireSlot(): boolean {
    const { budget } = this.#options;
    if (budget.tryTake()) return true;
    const [oldest] = this.#flows;
    if (oldest !== undefined) this.#end(...oldest);
    return budget.tryTake();
  }

  #sweep(): void {
    const beforeMs = performance.now() - IDLE_MAX_MS;
    for (const [key, flow] of this.#flows) if (flow.usedAtMs < beforeMs) this.#end(key, flow);
  }

  #end(key: string, flow: Flow): void {
    if (this.#flows.get(key) === flow) this.#flows.delete(key);
    if (flow.close()) this.#options.budget.release();
  }
}

interface FlowEnds {
  answer(data: Buffer): void;
  /** With the last datagram, if nothing was ever answered. */
  refused(last: Buffer | undefined): void;
}

/** The socket of one client towards its target; connected, so that a refusal is noticed. */
class Flow {
  readonly target: RelayTarget;
  usedAtMs = performance.now();
  readonly #socket: Socket;
  #waiting: Buffer[] | undefined = [];
  #last: Buffer | undefined;
  #isClosed = false;

  constructor(target: RelayTarget, { answer, refused }: FlowEnds) {
    this.target = target;
    this.#socket = createSocket(target.address.includes(":") ? "udp6" : "udp4");
    this.#socket.on("error", () => refused(this.#last));
    this.#socket.on("message", (data) => {
      this.usedAtMs = performance.now();
      this.#last = undefined;
      answer(data);
    });
    this.#socket.on("connect", () => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const data of waiting) this.#write(data);
    });
    this.#socket.connect(target.port, target.address);
  }

  send(data: Buffer): void {
    this.usedAtMs = performance.now();
    this.#last = data;
    if (this.#waiting === undefined) this.#write(data);
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push(data);
  }

  /** False if it was closed before. */
  close(): boolean {
    if (this.#isClosed) return false;
    this.#isClosed = true;
    this.#socket.close();
    return true;
  }

  #write(data: Buffer): void {
    if (!this.#isClosed) this.#socket.send(data, () => {});
  }
}
