/** Reads the lines of a file and optionally follows it, also after it was truncated or replaced. Uses file system events, no polling. */
import { watch } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { StringDecoder } from "node:string_decoder";

/** Read size. */
const PIECE_BYTES = 64 * 1024;
/** Minimum number of kept lines before older ones are dropped. */
const PIECE_LINES = 1_000;

export interface FollowOptions {
  /** True to follow the file. */
  readonly follows: boolean;
  /** Only the last lines of the existing content. Absent: all. */
  readonly tail?: number;
  /** Other lines are ignored. */
  isWanted(line: string): boolean;
  readonly signal: AbortSignal;
}

/** Ends at the end of the file, or, if it is followed, when the signal is aborted. A missing file is empty. */
export async function* followLines(path: string, { follows, tail, isWanted, signal }: FollowOptions): AsyncGenerator<string> {
  // The watch is started before the first read, so that no change in between is missed.
  using changes = follows ? new Changes(path, signal) : undefined;
  const reader = new LineReader(path);
  if (tail === undefined) yield* wanted();
  else yield* await lastOf(wanted(), tail);
  if (changes === undefined) return;
  while (await changes.next()) yield* wanted();

  async function* wanted(): AsyncGenerator<string> {
    for await (const lines of reader.read()) yield* lines.filter(isWanted);
  }
}

/** Detects changes of a file since the last call. Watches from its creation on, which Node's own async iterator does not. */
class Changes implements Disposable {
  readonly #stop: () => void;
  #isEnded = false;
  #error: Error | undefined;
  #hasChanged = false;
  #wake: (() => void) | undefined;

  constructor(path: string, signal: AbortSignal) {
    const watcher = watch(dirname(path));
    const end = () => {
      this.#isEnded = true;
      this.#wake?.();
    };
    this.#stop = () => {
      signal.removeEventListener("abort", end);
      watcher.close();
    };
    watcher.on("change", (_, filename) => {
      if (filename !== basename(path)) return;
      this.#hasChanged = true;
      this.#wake?.();
    });
    watcher.on("error", (error) => {
      this.#error = error;
      end();
    });
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  }

  /** Waits for a change; false: aborted. */
  async next(): Promise<boolean> {
    if (!this.#hasChanged && !this.#isEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = undefined;
    if (this.#error !== undefined) throw this.#error;
    this.#hasChanged = false;
    return !this.#isEnded;
  }

  [Symbol.dispose](): void {
    this.#stop();
  }
}

async function lastOf(lines: AsyncIterable<string>, count: number): Promise<readonly string[]> {
  let last: string[] = [];
  for await (const line of lines) {
    last.push(line);
    // Not at every line, which would take quadratic time.
    if (last.length > 2 * count + PIECE_LINES) last = last.slice(last.length - count);
  }
  return last.slice(Math.max(0, last.length - count));
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

class LineReader {
  readonly #path: string;
  #decoder = new StringDecoder("utf8");
  #inode = 0;
  #position = 0;
  /** An incomplete last line. */
  #rest = "";

  constructor(path: string) {
    this.#path = path;
  }

  async *read(): AsyncGenerator<readonly string[]> {
    const file = await openIfThere(this.#path);
    if (file === undefined) return;
    try {
      // Of the open file: its name may refer to another one by now.
      const { ino, size } = await file.stat();
      if (ino !== this.#inode || size < this.#position) this.#begin(ino);
      for (;;) {
        const { bytesRead, buffer } = await file.read(Buffer.alloc(PIECE_BYTES), 0, PIECE_BYTES, this.#position);
        if (bytesRead === 0) return;
        this.#position += bytesRead;
        const lines = (this.#rest + this.#decoder.write(buffer.subarray(0, bytesRead))).split("\n");
        this.#rest = lines.pop() ?? "";
        yield lines;
      }
    } finally {
      await file.close();
    }
  }

  #begin(inode: number): void {
    this.#inode = inode;
    this.#position = 0;
    this.#rest = "";
    this.#decoder = new StringDecoder("utf8");
  }
}
