/**
 * Whole messages over Unix sockets between processes of one program: each has its length in four bytes before it. The socket has mode 0600,
 * in a directory that the caller keeps private. Structurally a FrameChannel of store/remote, which this room does not know.
 */
import { chmod } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { PRIVATE_FILE_MODE } from "../files/files.ts";

const LENGTH_BYTES = 4;

export interface FrameSocket {
  send(parts: readonly Uint8Array[]): number;
  onFrame(listener: (frame: Uint8Array) => void): void;
  onDrained(listener: () => void): void;
  onClosed(listener: () => void): void;
  close(): void;
}

export interface FrameSocketOptions {
  /** A longer message closes the connection. */
  readonly frameBytesMax: number;
}

/** Listens at `path`, a short one. Disposing closes all connections. */
export async function listenForFrames(
  path: string,
  { frameBytesMax }: FrameSocketOptions,
  serve: (channel: FrameSocket) => void,
): Promise<AsyncDisposable> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    serve(frameSocket(socket, frameBytesMax));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen({ path }, resolve));
  await chmod(path, PRIVATE_FILE_MODE);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Rejects if nothing listens there. */
export async function connectForFrames(path: string, { frameBytesMax }: FrameSocketOptions): Promise<FrameSocket> {
  const socket = connect({ path });
  await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return frameSocket(socket, frameBytesMax);
}

function frameSocket(socket: Socket, frameBytesMax: number): FrameSocket {
  const frames = new Frames();
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined); // "close" follows.
  // Read from `onFrame` on, so that no message is received without a listener.
  return {
    send(parts) {
      if (socket.destroyed || socket.writableEnded) return 0;
      const length = Buffer.allocUnsafe(LENGTH_BYTES);
      length.writeUInt32BE(parts.reduce((sum, part) => sum + part.length, 0));
      socket.cork();
      socket.write(length);
      for (const part of parts) if (part.length > 0) socket.write(part);
      process.nextTick(() => socket.uncork());
      return socket.writableLength;
    },
    onFrame(listener) {
      socket.on("data", (chunk: Buffer) => {
        frames.add(chunk);
        try {
          for (let frame = frames.next(frameBytesMax); frame !== undefined; frame = frames.next(frameBytesMax)) listener(frame);
        } catch (error) {
          socket.destroy(error as Error);
        }
      });
    },
    onDrained: (listener) => void socket.on("drain", listener),
    onClosed: (listener) => void closed.then(listener),
    close: () => void socket.end(),
  };
}

/** The complete messages in the bytes received so far; chunks of an incomplete one are joined once, when it is complete. */
class Frames {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the next message; undefined: not received yet. */
  #length: number | undefined;

  add(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** Throws if the next message is too long. */
  next(frameBytesMax: number): Uint8Array | undefined {
    if (this.#length === undefined) {
      if (this.#bytes < LENGTH_BYTES) return undefined;
      const length = this.#take(LENGTH_BYTES).readUInt32BE();
      if (length > frameBytesMax) throw new Error(`A message of ${length} bytes was received; at most ${frameBytesMax} are allowed`);
      this.#length = length;
    }
    if (this.#bytes < this.#length) return undefined;
    const frame = this.#take(this.#length);
    this.#length = undefined;
    return frame;
  }

  #take(length: number): Buffer {
    const first = this.#chunks[0];
    const whole = first !== undefined && first.length >= length ? first : Buffer.concat(this.#chunks);
    const rest = whole.subarray(length);
    if (whole === first) this.#chunks.shift();
    else this.#chunks = [];
    if (rest.length > 0) this.#chunks.unshift(rest);
    this.#bytes -= length;
    return whole.subarray(0, length);
  }
}
