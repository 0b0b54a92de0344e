/** Finds Unix sockets in a directory, and notices that one was replaced. */
import { watch } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** A directory tree with more entries is not searched further: it is no directory of plugins. */
const ENTRIES_MAX = 1_000;

/**
 * Sockets in a directory and below by path; names with a leading "." are left out. The value identifies the socket: another one at the
 * same path has another. Empty if the directory does not exist.
 */
export async function socketsUnder(directory: string): Promise<ReadonlyMap<string, string>> {
  const sockets = new Map<string, string>();
  const directories = [directory];
  let entries = 0;
  for (let current = directories.pop(); current !== undefined; current = directories.pop()) {
    for (const entry of await readdir(current, { withFileTypes: true }).catch(() => [])) {
      if (++entries > ENTRIES_MAX) return sockets;
      const path = join(current, entry.name);
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) directories.push(path);
      if (!entry.isSocket()) continue;
      const identity = await identityOf(path);
      if (identity !== undefined) sockets.set(path, identity);
    }
  }
  return sockets;
}

/** The inode number alone may be reused at once. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await lstat(path, { bigint: true });
    return `${ino}-${birthtimeNs}`;
  } catch {
    return undefined; // Removed meanwhile.
  }
}

/** Calls back when an entry of the directory (not below) is created, renamed or removed. A failed watch ends silently: callers also poll. */
export function watchDirectory(directory: string, onChange: () => void): Disposable {
  try {
    const watcher = watch(directory, { persistent: false }, () => onChange());
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    return { [Symbol.dispose]: () => undefined };
  }
}
