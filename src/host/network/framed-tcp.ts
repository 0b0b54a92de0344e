/**
 * Messages with a length of two bytes before each, over TCP: a server with limits, and single exchanges with another server. Messages of
 * one connection are delivered as they arrive; answers may be written in any order.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { ListenError } from "../http/server.ts";
import type { DatagramPeer } from "./datagrams.ts";

const LENGTH_BYTES = 2;

export interface FramedServer extends AsyncDisposable {
  readonly port: number;
}

export interface FramedServerOptions {
  /** An address of this machine. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** More are closed when they connect. */
  readonly connectionsMax: number;
  /** Messages of one connection without an answer; reading pauses at it. */
  readonly unansweredMax: number;
  /** A connection without a message for this long is closed. */
  readonly idleMs: number;
  /** Must not throw, and must call `answer` once per message; undefined closes the connection. */
  receive(bytes: Buffer, answer: (bytes: Uint8Array | undefined) => void): void;
}

/** Rejects with a ListenError if it cannot listen there. */
export async function startFramedServer(options: FramedServerOptions): Promise<FramedServer> {
  const { host, port, connectionsMax } = options;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    serveConnection(socket, options);
  });
  server.maxConnections = connectionsMax;
  await listen(server, { host, port });
  // Accepting a connection may fail, for want of file descriptors, say; the next one is tried all the same.
  server.on("error", () => {});
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

async function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      reject(new ListenError(`Cannot listen on ${host}:${port}: ${error.message}`, error.code ?? "", error)),
    );
    server.listen({ host, port, exclusive: true }, resolve);
  });
}

function serveConnection(socket: Socket, { unansweredMax, idleMs, receive }: FramedServerOptions): void {
  const frames = new Frames();
  let unanswered = 0;
  let hasEnded = false;
  const finish = () => void (hasEnded && unanswered === 0 && socket.end());
  const deliver = () => {
    for (;;) {
      if (unanswered >= unansweredMax) return void socket.pause();
      const message = frames.next();
      if (message === undefined) break;
      unanswered++;
      receive(message, (answer) => {
        unanswered--;
        if (answer === undefined || socket.destroyed) return void socket.destroy();
        // Also paused while the client does not read its answers.
        if (!socket.write(framed(answer))) socket.pause();
        else if (socket.isPaused() && unanswered < unansweredMax) resume();
        finish();
      });
    }
    finish();
  };
  const resume = () => {
    socket.resume();
    setImmediate(deliver);
  };
  socket.setTimeout(idleMs, () => socket.destroy());
  socket.on("error", () => {}); // "close" follows.
  socket.on("drain", resume);
  socket.on("data", (chunk: Buffer) => {
    frames.add(chunk);
    deliver();
  });
  socket.on("end", () => {
    hasEnded = true;
    deliver();
  });
}

/** The complete messages in the bytes received so far. At most one incomplete message is kept, so at most 64 KiB and a chunk. */
class Frames {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    this.#bytes = this.#bytes.length === 0 ? chunk : Buffer.concat([this.#bytes, chunk]);
  }

  next(): Buffer | undefined {
    if (this.#bytes.length < LENGTH_BYTES) return undefined;
    const end = LENGTH_BYTES + this.#bytes.readUInt16BE(0);
    if (this.#bytes.length < end) return undefined;
    const message = this.#bytes.subarray(LENGTH_BYTES, end);
    this.#bytes = this.#bytes.subarray(end);
    return message;
  }
}

function framed(bytes: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + bytes.length);
  frame.writeUInt16BE(bytes.length, 0);
  frame.set(bytes, LENGTH_BYTES);
  return frame;
}

export interface FramedExchange {
  readonly to: DatagramPeer;
  readonly bytes: Uint8Array;
  readonly signal: AbortSignal;
}

/** Sends one message over a connection of its own and resolves with the first one received. Rejects with the signal's reason. */
export function exchangeFramed({ to, bytes, signal }: FramedExchange): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const socket = connect({ host: to.address, port: to.port, noDelay: true });
    const frames = new Frames();
    const aborted = () => void socket.destroy(signal.reason as Error);
    signal.addEventListener("abort", aborted);
    socket.on("connect", () => void socket.write(framed(bytes)));
    socket.on("data", (chunk: Buffer) => {
      frames.add(chunk);
      const answer = frames.next();
      if (answer === undefined) return;
      resolve(answer);
      socket.destroy();
    });
    socket.on("end", () => void socket.destroy());
    socket.on("error", reject);
    socket.once("close", () => {
      signal.removeEventListener("abort", aborted);
      reject(new Error(`${to.address}:${to.port} closed the connection without an answer`));
    });
  });
}
