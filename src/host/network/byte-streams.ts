/** Sockets as ByteStreams, and two ByteStreams joined. Each direction ends by itself, with backpressure; a failure closes both. */
import type { Duplex } from "node:stream";
import type { ByteStream } from "../../base/byte-stream.ts";
import { realMacrotask } from "../real-clock.ts";

/** `head`: bytes already read. From here on only this stream uses the socket. */
export function streamOfSocket(socket: Duplex, head?: Uint8Array): ByteStream {
  // Otherwise Node ends our direction when the peer ends its own.
  socket.allowHalfOpen = true;
  let failure: Error | undefined;
  socket.on("error", (error) => (failure ??= error));
  const closed = new Promise<void>((resolve) => {
    if (socket.closed) resolve();
    else socket.once("close", () => resolve());
  });
  if (head !== undefined && head.length > 0) socket.unshift(head);
  const why = () => failure ?? new Error("The connection is closed");
  const drained = drainWaiter(socket, why);
  return {
    input: { [Symbol.asyncIterator]: () => chunksOf(socket, why) },
    async write(chunk) {
      if (!socket.writable) throw why();
      // An empty chunk means nothing to a socket, and the end to some transports.
      if (chunk.length === 0 || socket.write(chunk)) return;
      await drained();
      // Writes that the kernel accepts immediately still yield to the event loop: otherwise a busy writer would starve readers, and could
      // be cut off by a response that it has not read yet.
      await realMacrotask();
    },
    end: () => void socket.end(),
    abort: () => void socket.destroy(),
    closed,
  };
}

/** One pair of listeners per socket, whatever the number of waiters. */
function drainWaiter(socket: Duplex, why: () => Error): () => Promise<void> {
  let waiting: Promise<void> | undefined;
  return () =>
    (waiting ??= new Promise<void>((resolve, reject) => {
      const over = () => {
        socket.off("drain", over).off("close", over);
        waiting = undefined;
        if (socket.destroyed) reject(why());
        else resolve();
      };
      socket.on("drain", over).on("close", over);
    }));
}

/** Node's own iterator would destroy the socket at the end of its input, including the output. */
async function* chunksOf(socket: Duplex, why: () => Error): AsyncGenerator<Uint8Array, void> {
  let wake: () => void = () => undefined;
  const happened = () => wake();
  for (const event of EVENTS) socket.on(event, happened);
  try {
    for (;;) {
      const chunk = socket.read() as Uint8Array | null;
      if (chunk !== null) yield chunk;
      else if (socket.readableEnded) return;
      else if (socket.destroyed) throw why();
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    for (const event of EVENTS) socket.off(event, happened);
  }
}

const EVENTS = ["readable", "end", "close"] as const;

/** Copies bytes in both directions until both have ended. Never rejects: a failure of one closes the other. */
export async function joinStreams(a: ByteStream, b: ByteStream): Promise<void> {
  await Promise.all([oneWay(a, b), oneWay(b, a)]);
}

async function oneWay(from: ByteStream, to: ByteStream): Promise<void> {
  try {
    for await (const chunk of from.input) await to.write(chunk);
    to.end();
  } catch {
    from.abort();
    to.abort();
  }
}

/** Reads and discards everything, so that the peer is not blocked. Never rejects. */
export async function discard(input: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _chunk of input);
  } catch {
    // It has ended, which is sufficient.
  }
}
