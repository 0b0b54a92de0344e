/** Files of the store and the commands: private to their owner, replaced atomically. */
import { constants, createReadStream, statfsSync } from "node:fs";
import {
  access,
  chmod,
  mkdir,
  open,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  statfs,
  unlink,
  type FileHandle,
  readdir,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import { openRegularFile } from "./regular-file.ts";

/** Only the owner may read or write what k8ts keeps. */
export const PRIVATE_FILE_MODE = 0o600;
const PRIVATE_DIRECTORY_MODE = 0o700;

export function joinPath(...parts: readonly string[]): string {
  return join(...parts);
}

export async function makePrivateDirectory(path: string): Promise<void> {
  await makeWithParents(path);
}

/** Not by Node's own `recursive`, which retries forever where a directory can never be created (/proc/x). */
async function makeWithParents(path: string): Promise<void> {
  const parent = dirname(path);
  if (await makeOne(path, { isParentSure: parent === path })) return;
  await makeWithParents(parent);
  await makeOne(path, { isParentSure: true });
}

/** True if it exists now; false if its parent is missing. */
async function makeOne(path: string, { isParentSure }: { readonly isParentSure: boolean }): Promise<boolean> {
  try {
    await mkdir(path, { mode: PRIVATE_DIRECTORY_MODE });
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await stat(path)).isDirectory()) return true;
    if (code === "ENOENT" && !isParentSure) return false;
    throw error;
  }
}

/** Makes sure that `path` exists as a file that only its owner can read. Keeps its content. */
export async function makePrivateFile(path: string): Promise<void> {
  await (await open(path, "a", PRIVATE_FILE_MODE)).close();
  await chmod(path, PRIVATE_FILE_MODE);
}

export async function fileExists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/**
 * True if this user may write to it. Anything behind a directory that the user cannot enter counts as forbidden, whether it exists or not.
 */
export async function writeAccess(path: string): Promise<"usable" | "missing" | "forbidden"> {
  return access(path, constants.W_OK).then(
    () => "usable",
    ({ code }: NodeJS.ErrnoException) => (code === "EACCES" || code === "EPERM" ? "forbidden" : "missing"),
  );
}

export async function readWhole(path: string): Promise<Uint8Array> {
  return readFile(path);
}

/** "" if it does not exist or cannot be read. */
export async function readTextIfAny(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

/** Names of the entries of a directory, sorted; none if it does not exist. */
export async function namesIn(directory: string): Promise<readonly string[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  return names.toSorted((a, b) => (a < b ? -1 : 1));
}

/** The first `length` bytes of a file, or as many as it has. */
export async function readHead(path: string, length: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The last `length` bytes of a file, or as many as it has. */
export async function readTail(path: string, length: number): Promise<Buffer> {
  await using file = await open(path, "r");
  return await tailOf(file, length);
}

/** Same for a file that other users may have replaced: it must be a regular one, and no link is followed. */
export async function readRegularTail(path: string, length: number): Promise<Buffer> {
  await using file = await openRegularFile(path);
  return await tailOf(file, length);
}

async function tailOf(file: FileHandle, length: number): Promise<Buffer> {
  const start = Math.max(0, (await file.stat()).size - length);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, start);
  return buffer.subarray(0, bytesRead);
}

export async function fileSizeBytes(path: string): Promise<number> {
  return (await stat(path)).size;
}

/** Extends a file with zeros that take no disk space. */
export async function extendFile(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.truncate(sizeBytes);
  } finally {
    await file.close();
  }
}

/** Space that an unprivileged user can still write on the file system of `path`. */
export async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** Free space for this process on the file system of `path`; takes two microseconds. Infinity: unknown. */
export function writableBytesNow(path: string): number {
  try {
    const { bavail, bfree, bsize } = statfsSync(path);
    return (process.geteuid?.() === 0 ? bfree : bavail) * bsize;
  } catch {
    return Infinity;
  }
}

/** Renames a file over another. Durable only after `syncDirectory`. */
export async function moveFile(from: string, to: string): Promise<void> {
  await rename(from, to);
}

/** Moves a file into the place of another, durably: after a crash one of the two is there, whole. */
export async function replaceFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncDirectory(dirname(to));
}

/** Removes a file; one that is not there is fine. */
export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Waits until the content of a file is on disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes the names in a directory durable: a new file is not safe before its directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/**
 * Writes a private file whole and durably, or leaves what was there. Returns what the pieces' generator returned. Rejects if the path is
 * anything but a regular file: root could replace /dev/null.
 */
export async function writeFileWhole<T>(path: string, pieces: AsyncGenerator<Uint8Array, T>): Promise<T> {
  if (await isPipe(path)) throw new Error(`Cannot write ${path}: it is a device, a pipe or a socket; choose a regular file`);
  // Not the link is replaced (/dev/stdout), but the file that it points to.
  const target = await realpath(path).catch(() => path);
  const partial = `${target}.${process.pid}.partial`;
  const file = await open(partial, "wx", PRIVATE_FILE_MODE);
  try {
    for (;;) {
      const { done, value } = await pieces.next();
      if (done === true) {
        await file.sync();
        await file.close();
        await replaceFile(partial, target);
        return value;
      }
      await file.writeFile(value);
    }
  } catch (error) {
    await file.close().catch(() => undefined);
    await unlink(partial).catch(() => undefined);
    throw named(error, path);
  }
}

/** The system does not say to which file it could not write. */
function named(error: unknown, path: string): unknown {
  return isDiskFull(error) ? Object.assign(error as NodeJS.ErrnoException, { path }) : error;
}

/** Of the disk, or of what this user may have of it. */
export function isDiskFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}

export function readFilePieces(path: string): AsyncIterable<Uint8Array> {
  return createReadStream(path, { highWaterMark: 1 << 20 });
}

export async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Whether the path is a device, a pipe or a socket: neither a regular file nor a directory. */
export async function isPipe(path: string): Promise<boolean> {
  try {
    const found = await stat(path);
    return !found.isFile() && !found.isDirectory();
  } catch {
    return false;
  }
}
