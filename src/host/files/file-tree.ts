/**
 * Serves a directory read-only. Links are followed only if they stay inside; FIFOs, sockets and devices are treated as missing, because
 * opening one may block or have an effect. An open file stays the same (open-within.ts).
 */
import { readdir, type FileHandle } from "node:fs/promises";
import { openHeldFile } from "./regular-file.ts";
import { openWithin } from "./open-within.ts";

export interface TreeDirectory {
  readonly is: "directory";
  readonly modifiedAtMs: number;
  /** Sorted by name. A link does not count as a directory, whatever its target. */
  readonly entries: readonly { readonly name: string; readonly isDirectory: boolean }[];
}

/** The caller closes it. */
export interface TreeFile extends AsyncDisposable {
  readonly is: "file";
  readonly modifiedAtMs: number;
  readonly sizeBytes: number;
  /** At most `length` bytes from `position`; empty at the end. */
  read(position: number, length: number): Promise<Uint8Array>;
}

export interface FileTree {
  /** `path` is relative, "" is the root. Undefined: it does not exist inside, or is not served. */
  open(path: string): Promise<TreeDirectory | TreeFile | undefined>;
}

/** Upper limit of listed entries, because of memory. */
const ENTRIES_MAX = 10_000;

export function fileTree(root: string): FileTree {
  return {
    async open(path) {
      // All of our own errors mean that it is not accessible.
      const place = await openWithin(root, path).catch(() => undefined);
      if (place === undefined) return undefined;
      try {
        const found = await place.stat();
        if (found.isDirectory()) return { is: "directory", modifiedAtMs: found.mtimeMs, entries: await entriesOf(place) };
        return found.isFile() ? treeFile(await openHeldFile(place, path), found) : undefined;
      } finally {
        await place.close();
      }
    },
  };
}

async function entriesOf({ fd }: FileHandle): Promise<TreeDirectory["entries"]> {
  const found = await readdir(`/proc/self/fd/${fd}`, { withFileTypes: true });
  return found
    .map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, ENTRIES_MAX);
}

function treeFile(file: FileHandle, { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): TreeFile {
  return {
    is: "file",
    modifiedAtMs: mtimeMs,
    sizeBytes: size,
    async read(position, length) {
      const { bytesRead, buffer } = await file.read(new Uint8Array(length), 0, length, position);
      return buffer.subarray(0, bytesRead);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
