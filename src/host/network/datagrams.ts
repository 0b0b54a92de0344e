/** UDP sockets: one that receives and answers datagrams of any client, and single exchanges with another server. */
import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { randomInt } from "node:crypto";
import { ListenError } from "../http/server.ts";

/** The peer of a datagram, to answer it. */
export interface DatagramPeer {
  readonly address: string;
  readonly port: number;
}

export interface DatagramSocket extends AsyncDisposable {
  readonly port: number;
  /** Sends or drops: UDP gives no guarantee, and a peer that is gone is not an error. The bytes must not change afterwards. */
  send(bytes: Uint8Array, to: DatagramPeer): void;
}

export interface DatagramOptions {
  /** An address of this machine. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Must not throw. */
  receive(bytes: Buffer, from: DatagramPeer): void;
}

/** Of the kernel's queues: bursts of several thousand small datagrams are not dropped while the process is busy. */
const BUFFER_BYTES = 4 * 1024 * 1024;

/** Rejects with a ListenError if it cannot listen there. */
export async function openDatagramSocket({ host, port, receive }: DatagramOptions): Promise<DatagramSocket> {
  const family = host.includes(":") ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    // Peers are addresses: without Node's own lookup a send completes in the same tick.
    lookup: (address, _options, found) => found(null, address, family),
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot receive datagrams on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    socket.bind({ address: host, port, exclusive: true }, resolve);
  });
  // An ICMP error of an earlier datagram, which is lost anyway.
  socket.removeAllListeners("error").on("error", () => {});
  growBuffers(socket);
  socket.on("message", (bytes: Buffer, from: RemoteInfo) => receive(bytes, from));
  const ignored = () => {};
  return {
    port: socket.address().port,
    send(bytes, to) {
      try {
        socket.send(bytes, 0, bytes.length, to.port, to.address, ignored);
      } catch {
        // Port 0 as the source of a datagram: no client can receive the answer.
      }
    },
    [Symbol.asyncDispose]: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function growBuffers(socket: Socket): void {
  try {
    socket.setRecvBufferSize(BUFFER_BYTES);
    socket.setSendBufferSize(BUFFER_BYTES);
  } catch {
    // The kernel's own sizes are enough, but for bursts.
  }
}

export interface DatagramExchange {
  readonly to: DatagramPeer;
  readonly bytes: Uint8Array;
  /** Whether a datagram of the peer is the answer; others are ignored. */
  accepts(bytes: Uint8Array): boolean;
  readonly signal: AbortSignal;
}

/**
 * Sends a datagram from a port of its own, which the kernel chooses at random, and resolves with the answer. Rejects if the peer's machine
 * refuses it, or with the signal's reason.
 */
export function exchangeDatagram({ to, bytes, accepts, signal }: DatagramExchange): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const socket = createSocket(to.address.includes(":") ? "udp6" : "udp4");
    let isOver = false;
    const end = (settle: () => void) => {
      if (isOver) return;
      isOver = true;
      signal.removeEventListener("abort", aborted);
      socket.close();
      settle();
    };
    const aborted = () => end(() => reject(signal.reason as Error));
    signal.addEventListener("abort", aborted);
    socket.on("error", (error) => end(() => reject(error)));
    socket.on("message", (answer) => accepts(answer) && end(() => resolve(answer)));
    // Connected, so that the kernel drops datagrams of others and reports refusals.
    socket.connect(to.port, to.address, (error?: Error | null) => {
      // Without a route: the callback gets the error, and the socket is not connected.
      if (error instanceof Error) return end(() => reject(error));
      if (!isOver) socket.send(bytes, (error) => error !== null && end(() => reject(error)));
    });
  });
}

/** An unpredictable number below 65,536: an attacker who cannot read the query cannot forge the answer. */
export function unpredictableUint16(): number {
  return randomInt(0x1_0000);
}
