/**
 * Paths of Unix sockets that are longer than the kernel takes in an address (some hundred bytes): reached through a descriptor of their
 * directory, on Linux.
 */
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** Bytes of a path that every system takes (macOS: 104 with the zero at the end, Linux: 108). */
const SOCKET_PATH_BYTES_MAX = 100;

export interface SocketPath extends AsyncDisposable {
  /** Valid in this process, until it is disposed of. */
  readonly path: string;
}

/** Rejects if the path is long and its directory cannot be opened. A long path keeps that directory: one that replaces it is not seen. */
export async function openSocketPath(path: string): Promise<SocketPath> {
  if (Buffer.byteLength(path) <= SOCKET_PATH_BYTES_MAX || process.platform !== "linux") {
    return { path, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const directory = await open(dirname(path), "r");
  return {
    path: join("/proc/self/fd", String(directory.fd), basename(path)),
    [Symbol.asyncDispose]: () => directory.close(),
  };
}
