/**
 * Log files written by other processes: read at any offset while they grow, watched for changes, and rotated. Log directories are
 * world-readable, like upstream's. Writers are not trusted: only regular files are opened, and links are not followed (regular-file.ts).
 */
import { createWriteStream, watch } from "node:fs";
import { lstat, mkdir, readdir, rename, rm, rmdir, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline as connect, type Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { openRegularFileInPlace } from "./regular-file.ts";

const LOG_DIRECTORY_MODE = 0o755;
/** Read size. */
export const READ_BYTES = 65_536;

export async function makeLogDirectory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: LOG_DIRECTORY_MODE });
}

/** Removes it recursively. A missing one is fine. */
export async function removeLogDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}

/** Directories directly below `root` without any file at any depth, filtered by name. */
export async function emptyLogDirectories(root: string, isWanted: (name: string) => boolean): Promise<readonly string[]> {
  const names = await readdir(root).catch(() => []);
  const paths = names.filter(isWanted).map((name) => join(root, name));
  const areEmpty = await Promise.all(paths.map(hasNoFile));
  return paths.filter((_, index) => areEmpty[index]);
}

async function hasNoFile(path: string): Promise<boolean> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => undefined);
  if (entries === undefined || entries.some((entry) => !entry.isDirectory())) return false;
  return (await Promise.all(entries.map(({ name }) => hasNoFile(join(path, name))))).every((isEmpty) => isEmpty);
}

/** Only if it has no file, and none is created meanwhile. */
export async function removeEmptyLogDirectory(path: string): Promise<void> {
  for (const name of await readdir(path).catch(() => [])) await rmdir(join(path, name)).catch(() => undefined);
  await rmdir(path).catch(() => undefined);
}

/** Identity of the file at a path: another value is another file. */
export interface FileState {
  readonly identity: string;
  readonly sizeBytes: number;
}

/** Undefined if it does not exist. */
export async function fileState(path: string): Promise<FileState | undefined> {
  try {
    return stateOf(await lstat(path, { bigint: true }));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function stateOf({ dev, ino, size }: { readonly dev: bigint; readonly ino: bigint; readonly size: bigint }): FileState {
  return { identity: `${dev}:${ino}`, sizeBytes: Number(size) };
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
}

/** An open file, whatever happens to its name. */
export interface ReadableFile extends AsyncDisposable {
  state(): Promise<FileState>;
  /** Bytes at `position`; empty at the end. */
  read(position: number): Promise<Uint8Array>;
}

/** A file that may grow while it is read; it stays the same file whatever happens to its name. */
export class GrowingFile implements ReadableFile {
  readonly #file: FileHandle;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async state(): Promise<FileState> {
    return stateOf(await this.#file.stat({ bigint: true }));
  }

  /** At most `lengthMax` bytes at `position`; empty at the end. */
  async read(position: number, lengthMax = READ_BYTES): Promise<Uint8Array> {
    const { bytesRead, buffer } = await this.#file.read(new Uint8Array(lengthMax), 0, lengthMax, position);
    return buffer.subarray(0, bytesRead);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

/** Undefined if it does not exist. */
export function openGrowingFile(path: string): Promise<GrowingFile | undefined> {
  return openIfAny(path, (file) => new GrowingFile(file));
}

/** Reads a file that `gzipFile` compressed. Sequential: each read continues where the previous one ended. */
class PackedFile implements ReadableFile {
  readonly #file: FileHandle;
  readonly #packed: Readable;
  readonly #unpacked = createGunzip();
  readonly #chunks = this.#unpacked[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;

  constructor(file: FileHandle) {
    this.#file = file;
    this.#packed = file.createReadStream({ autoClose: false });
    connect(this.#packed, this.#unpacked, () => undefined);
  }

  async state(): Promise<FileState> {
    return stateOf(await this.#file.stat({ bigint: true }));
  }

  /** A corrupt file ends at the damage. */
  async read(): Promise<Uint8Array> {
    const { value, done } = await this.#chunks.next().catch(() => ({ value: undefined, done: true }));
    return done === true || value === undefined ? new Uint8Array(0) : value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#packed.destroy();
    this.#unpacked.destroy();
    await this.#file.close();
  }
}

/** Undefined if it does not exist. */
export function openPackedFile(path: string): Promise<ReadableFile | undefined> {
  return openIfAny(path, (file) => new PackedFile(file));
}

async function openIfAny<F>(path: string, made: (file: FileHandle) => F): Promise<F | undefined> {
  try {
    return made(await openRegularFileInPlace(path));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Calls back on every write, creation or rename in the directory of `path`. A failed watch ends silently. */
export function watchSiblings(path: string, onChange: () => void): Disposable {
  try {
    const watcher = watch(dirname(path), { persistent: false }, () => onChange());
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch {
    // Too many watches, or no such directory: readers also poll slowly.
    return { [Symbol.dispose]: () => undefined };
  }
}

/** Paths of the files whose names begin with that of `path`, sorted. */
export async function filesLike(path: string): Promise<string[]> {
  const directory = dirname(path);
  const prefix = path.slice(directory.length + 1);
  try {
    const names = await readdir(directory);
    return names
      .filter((name) => name.startsWith(prefix))
      .sort()
      .map((name) => join(directory, name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export async function renameFile(from: string, to: string): Promise<void> {
  await rename(from, to);
}

/** With the mode of the original. */
export async function gzipFile(from: string, to: string): Promise<void> {
  await using file = await openRegularFileInPlace(from);
  const { mode } = await file.stat();
  // "wx": a user who can write to the directory could have put a link there, through which another file would be overwritten.
  await pipeline(file.createReadStream({ autoClose: false }), createGzip(), createWriteStream(to, { mode, flags: "wx" }));
}

export function directoryOf(path: string): string {
  return dirname(path);
}
