/**
 * How much of its disk a directory takes with all that is in it, as `du -x` counts it: blocks, whatever the files' lengths say; a file with
 * several names once; nothing of other file systems. It looks at a few files at a time, so that nothing else of this process waits for it,
 * and at no more than so many: what has more is not counted.
 */
import type { Dirent, Stats } from "node:fs";
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";

export interface DirectoryUsage {
  readonly usedBytes: number;
  readonly inodesUsed: number;
}

/** The unit of the kernel's blocks, whatever those of the file system are. */
const BLOCK_BYTES = 512;
/** As many as the threads that look take at a time, and some that wait for them. */
const AT_ONCE = 16;

/** Undefined if it is not there, has more than `entriesMax` files in it, or cannot be looked through. Also of a file alone. */
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
  /** Those of several names that were counted. */
  readonly #counted = new Set<number>();
  #entries = 0;
  #usedBytes = 0;
  #inodesUsed = 0;

  constructor(root: Stats, max: number) {
    this.#root = root;
    this.#max = max;
  }

  /** Rejects if there is too much. */
  async of(path: string): Promise<DirectoryUsage> {
    this.#add(this.#root);
    const left = this.#root.isDirectory() ? [path] : [];
    for (let directory = left.pop(); directory !== undefined; directory = left.pop()) left.push(...(await this.#look(directory)));
    return { usedBytes: this.#usedBytes, inodesUsed: this.#inodesUsed };
  }

  /** The directories in it. */
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

/** Others may remove what was just read. */
async function ifThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  });
}
