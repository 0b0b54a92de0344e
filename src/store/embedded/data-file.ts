/**
 * Validates lmdb's file before lmdb maps it: lmdb trusts the file, so that a truncated or damaged one would end the process with a signal
 * instead of an error. It is walked first (page-check.ts); a large one only when it is shorter than its header says, or was not closed
 * properly. A healthy file may be shorter, too, when its last pages are free; it is then extended with zeros, because reading a map beyond
 * the end of its file raises such a signal.
 */
import { extendFile, fileSizeBytes, freeBytes, makePrivateFile, readHead } from "../../host/files/files.ts";
import { StoreError } from "../store-error.ts";
import { readFileHeaders, type FileHeaders } from "./file-header.ts";
import { checkPages } from "./page-check.ts";
import { LOCK_HEAD_BYTES, lockTransaction } from "./page-layout.ts";
import { damaged } from "./records.ts";
import { noSpaceLeft } from "./disk-space.ts";

/** Files up to this size are walked at each opening, which takes 0.3 seconds at most. */
const ALWAYS_CHECKED_BYTES = 256 * 1_048_576;

/** lmdb keeps its locks beside the data. */
function lockFileOf(path: string): string {
  return `${path}-lock`;
}

export interface FileState {
  /** The file was shorter than its header says and was extended. */
  readonly wasShort: boolean;
}

/** Ensures that the data and lock files exist, are private, and can be mapped. Throws "Damaged" if they cannot be trusted. */
export async function prepareDataFile(path: string, { abandoned }: { readonly abandoned: boolean }): Promise<FileState> {
  await makePrivateFile(lockFileOf(path));
  await makePrivateFile(path);
  const headers = await readFileHeaders(path);
  if (headers === undefined) return checkNew(path);
  const wantedBytes = (headers.newer.lastPage + 1) * headers.newer.pageSize;
  const sizeBytes = await fileSizeBytes(path);
  const wasShort = sizeBytes < wantedBytes;
  if (wasShort || abandoned || sizeBytes <= ALWAYS_CHECKED_BYTES) await checkUnchanged(path, headers);
  if (wasShort) await extendFile(path, wantedBytes);
  return { wasShort };
}

/** A file that changes during the check looks damaged, but is only in use by a process that the lock does not see. */
async function checkUnchanged(path: string, { newer }: FileHeaders): Promise<void> {
  try {
    await checkPages(path);
  } catch (error) {
    const now = await readFileHeaders(path).catch(() => undefined);
    if (now === undefined || now.newer.transaction === newer.transaction) throw error;
    throw new StoreError(
      "Locked",
      `Cannot open ${path}: another process is writing to it; stop that first or choose another data directory`,
    );
  }
}

/** An empty file is a new one, unless lmdb's lock file shows a commit: then it was truncated. */
async function checkNew(path: string): Promise<FileState> {
  const lock = await readHead(lockFileOf(path), LOCK_HEAD_BYTES);
  const committed = lockTransaction(new DataView(lock.buffer, lock.byteOffset, lock.length));
  if (committed > 0) throw damaged(`${path} is empty, and there were ${committed} transactions`);
  return { wasShort: false };
}

/** Less free space than this for an ordinary user counts as full: lmdb reports a full disk only as a failed write. */
const FULL_BELOW_BYTES = 1_048_576;

/**
 * Meaning of a failed write, unless the error says so itself. After "Full" the file is unchanged and may be written again when there is
 * space. After anything else it is unknown what reached the disk, so that nothing may follow it.
 */
export async function explainWriteFailure(error: unknown, directory: string): Promise<StoreError> {
  if (error instanceof StoreError) return error;
  const free = await freeBytes(directory).catch(() => Infinity);
  const code = (error as { code?: unknown }).code;
  if (code === "ENOSPC" || free < FULL_BELOW_BYTES) {
    return noSpaceLeft(directory, error);
  }
  return new StoreError(
    "WriteFailed",
    `Cannot write to ${directory}: ${(error as Error).message}; check the disk and restart; reads still work`,
    { cause: error },
  );
}
