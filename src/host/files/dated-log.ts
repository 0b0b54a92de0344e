/**
 * A log of lines that is rotated by size, as Kubernetes rotates its audit log: a full file is renamed after the time
 * (`audit-2026-01-02T03-04-05.678.log`), and old ones are deleted by number and age. Lines are written in batches, one at a time, and never
 * synchronously. Memory is bounded: lines that the disk does not take in time, and those of a failed write, are lost and counted.
 */
import { appendFile, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { PRIVATE_FILE_MODE } from "./files.ts";

/** Characters that wait for the disk: several of the largest requests, and seconds of many small ones. */
const WAITING_LENGTH_MAX = 32 * 1024 * 1024;
/** Characters of one write. */
const BATCH_LENGTH_MAX = 1024 * 1024;
const BYTES_PER_MEGABYTE = 1024 * 1024;
const MS_PER_DAY = 24 * 3_600_000;
const PRIVATE_DIRECTORY_MODE = 0o700;

export interface DatedLogOptions {
  /** "-": standard output. */
  readonly path: string;
  /** 0: never rotated. */
  readonly sizeMaxMegabytes: number;
  /** 0: none is deleted because of its age. */
  readonly ageMaxDays: number;
  /** 0: all are kept. */
  readonly backupsMax: number;
  readonly nowMs: () => number;
  /** Called when a write fails, with the number of lines that are lost. */
  readonly onLost: (lines: number, error: unknown) => void;
}

export interface DatedLog extends AsyncDisposable {
  /** `line`: without a line break. False: too much waits for the disk, and the line is lost. */
  append(line: string): boolean;
}

/** Rejects if the file cannot be written to. */
export async function openDatedLog(options: DatedLogOptions): Promise<DatedLog> {
  const file = options.path === "-" ? STANDARD_OUTPUT : await DatedFile.open(options);
  const waiting: string[] = [];
  let waitingLength = 0;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    // Lines of the same tick are written together.
    await Promise.resolve();
    while (waiting.length > 0) {
      let length = 0;
      let count = 0;
      while (count < waiting.length && (count === 0 || length < BATCH_LENGTH_MAX)) length += (waiting[count++] as string).length;
      const lines = waiting.splice(0, count);
      await file.append(`${lines.join("\n")}\n`).catch((error: unknown) => options.onLost(count, error));
      waitingLength -= length;
    }
    writing = undefined;
  };
  return {
    append(line) {
      if (waitingLength > 0 && waitingLength + line.length > WAITING_LENGTH_MAX) return false;
      waiting.push(line);
      waitingLength += line.length;
      writing ??= writeAll();
      return true;
    },
    async [Symbol.asyncDispose]() {
      await writing;
    },
  };
}

const STANDARD_OUTPUT = {
  append: (text: string): Promise<void> =>
    new Promise((resolve, reject) => void process.stdout.write(text, (error) => (error ? reject(error) : resolve()))),
};

class DatedFile {
  readonly #options: DatedLogOptions;
  #sizeBytes: number;

  private constructor(options: DatedLogOptions, sizeBytes: number) {
    this.#options = options;
    this.#sizeBytes = sizeBytes;
  }

  static async open(options: DatedLogOptions): Promise<DatedFile> {
    await mkdir(dirname(options.path), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    await appendFile(options.path, "", { mode: PRIVATE_FILE_MODE });
    const file = new DatedFile(options, (await stat(options.path)).size);
    await file.#deleteOld();
    return file;
  }

  async append(text: string): Promise<void> {
    const { path, sizeMaxMegabytes } = this.#options;
    const bytes = Buffer.from(text);
    const isFull = this.#sizeBytes > 0 && this.#sizeBytes + bytes.length > sizeMaxMegabytes * BYTES_PER_MEGABYTE;
    if (sizeMaxMegabytes > 0 && isFull) await this.#rotate();
    await appendFile(path, bytes, { mode: PRIVATE_FILE_MODE });
    this.#sizeBytes += bytes.length;
  }

  async #rotate(): Promise<void> {
    const { path, nowMs } = this.#options;
    const { stem, extension } = partsOf(path);
    const time = new Date(nowMs()).toISOString().replaceAll(":", "-").replace("Z", "");
    await rename(path, join(dirname(path), `${stem}-${time}${extension}`));
    this.#sizeBytes = 0;
    await this.#deleteOld();
  }

  async #deleteOld(): Promise<void> {
    const { path, ageMaxDays, backupsMax, nowMs } = this.#options;
    const rotated = rotatedFiles(path, await readdir(dirname(path)));
    const oldestMs = ageMaxDays === 0 ? -Infinity : nowMs() - ageMaxDays * MS_PER_DAY;
    const kept = backupsMax === 0 ? rotated.length : backupsMax;
    const old = rotated.filter(({ timeMs }, index) => index >= kept || timeMs < oldestMs);
    for (const { name } of old) await rm(join(dirname(path), name), { force: true });
  }
}

function partsOf(path: string): { readonly stem: string; readonly extension: string } {
  const extension = extname(path);
  return { stem: basename(path, extension), extension };
}

/** Newest first. Other files of the directory are none of its business. */
function rotatedFiles(path: string, names: readonly string[]): readonly { readonly name: string; readonly timeMs: number }[] {
  const { stem, extension } = partsOf(path);
  return names
    .flatMap((name) => {
      if (!name.startsWith(`${stem}-`) || !name.endsWith(extension)) return [];
      const time = name.slice(stem.length + 1, name.length - extension.length);
      const timeMs = Date.parse(`${time.replace(/T(\d{2})-(\d{2})-/, "T$1:$2:")}Z`);
      return Number.isNaN(timeMs) ? [] : [{ name, timeMs }];
    })
    .toSorted((a, b) => b.timeMs - a.timeMs);
}
