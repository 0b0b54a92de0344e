/**
 * Computes the disk usage of a directory tree as `du -x` does: allocated blocks, regardless of file lengths; a file with several hard links
 * once; no other file systems. Reads a few entries at a time, so that it does not block this process, and at most a given number: larger
 * directories are not counted.
 */
import type { Dirent, Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface DirectoryUsage {
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

/** Unit of the kernel's block counts, regardless of the file system's block size. */
const BLOCK_BYTES = 512;
/** As many as the thread pool handles at a time, plus some queued ones. */
const AT_ONCE = 16;

/** Undefined if it does not exist, has more than `entriesMax` files, or cannot be read. Also for a single file. */
export async function directoryUsage(path: string, { entriesMax }: { readonly entriesMax: number }): Promise<DirectoryUsage | undefined> {
  try {
    const root = await lstat(path);
    return await new Count(root, entriesMax).of(path);
  } catch {
    return undefined;
  }
}

class Count {
  readonly #root: Stats;
  readonly #max: number;
  /** Counted files with several hard links. */
  readonly #counted = new Set<number>();
  #entries = 0;
  #usedBytes = 0;
  #inodesUsed = 0;

  constructor(root: Stats, max: number) {
    this.#root = root;
    this.#max = max;
  }

  /** Rejects if there are too many entries. */
  async of(path: string): Promise<DirectoryUsage> {
    this.#add(this.#root);
    const left = this.#root.isDirectory() ? [path] : [];
    for (let directory = left.pop(); directory !== undefined; directory = left.pop()) left.push(...(await this.#look(directory)));
    return { usedBytes: this.#usedBytes, inodesUsed: this.#inodesUsed };
  }

  /** Its subdirectories. */
  async #look(directory: string): Promise<readonly string[]> {
    const found: string[] = [];
    let some: Dirent[] = [];
    const lookAtSome = async (): Promise<void> => {
      const paths = some.map(({ name }) => join(directory, name));
      some = [];
      for (const [index, stats] of (await Promise.all(paths.map(ifThere))).entries()) {
        if (stats === undefined || stats.dev !== this.#root.dev) continue;
        this.#add(stats);
        if (stats.isDirectory()) found.push(paths[index] as string);
      }
    };
    for await (const entry of await opendir(directory)) {
      if (++this.#entries > this.#max) throw new Error(`Cannot measure ${directory}: it contains more than ${this.#max} files`);
      some.push(entry);
      if (some.length === AT_ONCE) await lookAtSome();
    }
    await lookAtSome();
    return found;
  }

  #add({ ino, nlink, blocks }: Stats): void {
    if (nlink > 1) {
      if (this.#counted.has(ino)) return;
      this.#counted.add(ino);
    }
    this.#usedBytes += blocks * BLOCK_BYTES;
    this.#inodesUsed++;
  }
}

/** Entries may be removed meanwhile. */
async function ifThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
}
