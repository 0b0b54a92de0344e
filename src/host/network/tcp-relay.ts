/**
 * Listens on a TCP port and connects each client to the first of its targets that accepts, byte by byte, with half-closed connections as
 * they are. A client for whom none accepts is reset. Not here: which targets (the caller's `targets`).
 */
import { connect, createServer, type Server, type Socket } from "node:net";
import { ListenError } from "../http/server.ts";
import type { SocketBudget } from "./socket-budget.ts";

export interface RelayTarget {
  readonly address: string;
  readonly port: number;
}

export interface RelayOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly budget: SocketBudget;
  /** Targets for a client, in the order of attempts. */
  targets(client: string): readonly RelayTarget[];
  /** A target accepted a client. */
  connected?(client: string, target: RelayTarget): void;
}

export interface Relay extends AsyncDisposable {
  readonly port: number;
  /** Ends connections to targets that `keeps` refuses. */
  prune(keeps: (target: RelayTarget) => boolean): void;
  /** Follows the addresses of this machine, if it must listen on each of them. */
  refresh?(): Promise<void>;
}

/** A target that neither accepts nor refuses: the next one is tried. Upstream's longest. */
const CONNECT_TIMEOUT_MS = 2_000;
/** Attempts per client: upstream's. */
const ATTEMPTS_MAX = 4;
/** Peers that vanished are noticed by TCP itself. */
const KEEP_ALIVE_MS = 60_000;
/** Connections without a byte in either direction end, so that forgotten ones do not use up the budget. */
const IDLE_MAX_MS = 24 * 60 * 60 * 1_000;

export async function startTcpRelay(options: RelayOptions): Promise<Relay> {
  const { host, port } = options;
  const open = new Set<Pair>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => void serve(client, options, open));
  await listening(server, host, port);
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : port,
    prune(keeps) {
      for (const pair of open) if (pair.target !== undefined && !keeps(pair.target)) pair.end();
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const pair of open) pair.end();
      await closed;
    },
  };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    server.listen({ host, port, ipv6Only: host.includes(":") }, () => {
      // Accept errors of a running server (no file descriptors left) concern single clients.
      server.removeAllListeners("error").on("error", () => {});
      resolve();
    });
  });
}

/** One client with its target. */
class Pair {
  readonly client: Socket;
  target: RelayTarget | undefined;
  upstream: Socket | undefined;
  isEnded = false;
  readonly #onEnd: () => void;

  constructor(client: Socket, onEnd: () => void) {
    this.client = client;
    this.#onEnd = onEnd;
    client.on("error", () => this.end());
    client.on("close", () => this.end());
  }

  end(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.upstream?.destroy();
    if (this.target === undefined) this.client.resetAndDestroy();
    else this.client.destroy();
    this.#onEnd();
  }

  join(upstream: Socket, target: RelayTarget): void {
    [this.upstream, this.target] = [upstream, target];
    for (const socket of [upstream, this.client]) {
      socket.setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS).setTimeout(IDLE_MAX_MS);
      socket.on("timeout", () => this.end());
    }
    upstream.on("error", () => this.end());
    // When the target has sent everything the pipe ends the client's side; the client may still send.
    upstream.on("close", (hadError) => (hadError ? this.end() : undefined));
    upstream.pipe(this.client);
    this.client.pipe(upstream);
  }
}

async function serve(client: Socket, options: RelayOptions, open: Set<Pair>): Promise<void> {
  const { budget, targets, connected } = options;
  if (!budget.tryTake()) return void client.resetAndDestroy();
  const pair = new Pair(client, () => {
    open.delete(pair);
    budget.release();
  });
  open.add(pair);
  const from = clientAddress(client);
  for (const target of targets(from).slice(0, ATTEMPTS_MAX)) {
    const upstream = await tryConnect(target);
    if (upstream === undefined) continue;
    if (pair.isEnded) return void upstream.destroy();
    connected?.(from, target);
    return pair.join(upstream, target);
  }
  pair.end();
}

/** Undefined if it does not accept. */
function tryConnect({ address, port }: RelayTarget): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
    const failed = () => {
      socket.destroy();
      resolve(undefined);
    };
    socket.once("error", failed).once("timeout", failed);
    socket.once("connect", () => {
      socket.removeAllListeners("timeout").removeListener("error", failed).setTimeout(0);
      resolve(socket);
    });
  });
}

/** IPv4 clients of an IPv6 socket are shown as IPv4. */
function clientAddress({ remoteAddress = "" }: Socket): string {
  return remoteAddress.startsWith("::ffff:") ? remoteAddress.slice("::ffff:".length) : remoteAddress;
}
