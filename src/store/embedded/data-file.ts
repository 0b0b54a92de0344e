/**
 * Looks at lmdb's file before lmdb does: lmdb maps it into memory and trusts it, so a file that was cut off or damaged would
 * end the process with a signal instead of an error. So it is walked through first (page-check.ts); if it is large, only when
 * it is shorter than its own header says, or was not closed properly. A healthy file may be shorter, too, when its last pages are free; it is
 * then made as long again, with zeros, because reading a map beyond the end of its file is such a signal.
 */
import { extendFile, fileSizeBytes, freeBytes, makePrivateFile, readHead } from "../../host/files/files.ts";
import { StoreError } from "../store-error.ts";
import { readFileHeaders, type FileHeaders } from "./file-header.ts";
import { checkPages } from "./page-check.ts";
import { LOCK_HEAD_BYTES, lockTransaction } from "./page-layout.ts";
import { damaged } from "./records.ts";
import { noSpaceLeft } from "./room.ts";

/** Files up to this size are walked through at each opening, which takes 0.3 seconds at most. */
const ALWAYS_CHECKED_BYTES = 256 * 1_048_576;

/** lmdb keeps its locks beside the data. */
function lockFileOf(path: string): string {
  return `${path}-lock`;
}

export interface FileState {
  /** The file held less than its header says, and was made longer. */
  readonly wasShort: boolean;
}

/** Makes sure that the file and that of its locks exist, are private, and can be mapped. Throws "Damaged" if it cannot be trusted. */
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

/** A file that changes under the check looks damaged, and is only in use; by a process that the lock cannot see. */
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

/** An empty file is a new one, unless lmdb's other file says that something was committed: then it was cut off at its beginning. */
async function checkNew(path: string): Promise<FileState> {
  const lock = await readHead(lockFileOf(path), LOCK_HEAD_BYTES);
  const committed = lockTransaction(new DataView(lock.buffer, lock.byteOffset, lock.length));
  if (committed > 0) throw damaged(`${path} is empty, and there were ${committed} transactions`);
  return { wasShort: false };
}

/** Less room than this for an ordinary user counts as full: lmdb reports a full disk only as a failed write. */
const FULL_BELOW_BYTES = 1_048_576;

/**
 * What a failed write means, unless it says so itself. After "Full" the file is as it was before and may be written again when there is space. After
 * anything else nobody can say what reached the disk, so nothing may follow it.
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
    `Cannot write to ${directory}: ${(error as Error).message}; check the disk and start again, reads go on`,
    { cause: error },
  );
}
