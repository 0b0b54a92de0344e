/**
 * Unix sockets that only their owner can reach, and lines of text over them. The socket has mode 0600, in a directory that the caller keeps
 * private; who connects checks first that only this user or root could have created it.
 */
import { chmod, lstat, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { PRIVATE_FILE_MODE } from "../files/files.ts";
import { checkTrustedPath, type TrustOptions } from "../files/trusted-path.ts";
import { openSocketPath } from "./socket-path.ts";

/** A client that connects and sends no line within this time is disconnected. */
const FIRST_LINE_TIMEOUT_MS = 10_000;

const LINE_FEED = 0x0a;

export interface LineConnection {
  /** Received lines, without line feeds. Ends with the connection; throws if a line is too long. Can be read once. */
  readonly lines: AsyncIterator<string>;
  /** Sends a line. Resolves when the socket accepts more; rejects if the peer disconnected. */
  send(line: string): Promise<void>;
  /** Fulfilled when the connection has ended, for whatever reason. */
  readonly closed: Promise<void>;
  /** Flushes and closes. */
  end(): void;
  /** Closes immediately. */
  destroy(): void;
}

export interface SocketOptions {
  /** A longer line ends the connection. */
  readonly lineBytesMax: number;
}

export interface ListenOptions extends SocketOptions {
  /** More clients at a time are disconnected. */
  readonly connectionsMax: number;
  /** Called for each connection, which is closed when the promise is settled. */
  serve(connection: LineConnection): Promise<void>;
}

/** Listens at `path`; what is there is replaced, so the caller must own the directory. Disposing closes all connections. */
export async function listenPrivately(path: string, { connectionsMax, lineBytesMax, serve }: ListenOptions): Promise<AsyncDisposable> {
  await rm(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.setTimeout(FIRST_LINE_TIMEOUT_MS, () => socket.destroy());
    const connection = lineConnection(socket, { lineBytesMax });
    serve(connection).then(
      () => connection.end(),
      () => connection.destroy(),
    );
  });
  server.maxConnections = connectionsMax;
  server.unref(); // The socket must not keep the process alive.
  await withShortPath(
    path,
    (short) =>
      new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen({ path: short }, resolve);
      }),
  );
  await chmod(path, PRIVATE_FILE_MODE);
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of open) socket.destroy();
      await closed;
      await rm(path, { force: true });
    },
  };
}

/** Undefined: no listener. Rejects with UntrustedPathError if another user could have created it. */
export async function connectPrivately(path: string, options: SocketOptions & TrustOptions): Promise<LineConnection | undefined> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return undefined;
    throw error;
  });
  if (found === undefined || !found.isSocket()) return undefined;
  await checkTrustedPath(path, options);
  const socket = await withShortPath(path, connectTo);
  return socket === undefined ? undefined : lineConnection(socket, options);
}

function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error: NodeJS.ErrnoException) =>
      // A process that was killed leaves its socket behind.
      error.code === "ECONNREFUSED" || error.code === "ENOENT" ? resolve(undefined) : reject(error),
    );
  });
}

async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  await using short = await openSocketPath(path);
  return await use(short.path);
}

function lineConnection(socket: Socket, { lineBytesMax }: SocketOptions): LineConnection {
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined); // Reported by `closed` and `send`.
  return {
    lines: linesOf(socket, lineBytesMax),
    closed,
    async send(line) {
      if (socket.destroyed) throw new Error("Cannot send: the peer closed the connection");
      if (socket.write(`${line}\n`)) return;
      await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
      if (socket.destroyed) throw new Error("Cannot send: the peer closed the connection");
    },
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}

async function* linesOf(socket: Socket, lineBytesMax: number): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let sizeBytes = 0;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    let rest = piece;
    for (let end = rest.indexOf(LINE_FEED); end >= 0; end = rest.indexOf(LINE_FEED)) {
      socket.setTimeout(0);
      yield Buffer.concat([...parts, rest.subarray(0, end)]).toString("utf8");
      parts = [];
      sizeBytes = 0;
      rest = rest.subarray(end + 1);
    }
    parts.push(rest);
    sizeBytes += rest.length;
    if (sizeBytes > lineBytesMax) throw new Error(`Cannot read from the socket: a line is longer than ${lineBytesMax} bytes`);
  }
}
