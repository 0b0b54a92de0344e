/**
 * Looks at lmdb's file before lmdb does: lmdb maps it into memory and trusts it, so a file that was cut off would end the
 * process with a signal instead of an error. A file that is shorter than its own header says is made as long again, with
 * zeros, which lmdb and our checksums recognise; it is then read through once before it is believed.
 * (A healthy file may be shorter, too, when its last pages are free.)
 */
import { extendFile, fileSizeBytes, freeBytes, makePrivateFile, readHead } from "../../host/files.ts";
import { StoreError } from "../store-error.ts";
import { damaged } from "./records.ts";

/** lmdb's mark at the beginning of its two first pages. */
const MAGIC = 0xbeefc0de;
/** The mark follows a page header of at most this length. */
const MAGIC_OFFSET_MAX = 64;
/** Offsets after the mark: page size, number of the last page, number of the transaction. */
const PAGE_SIZE_AT = 24;
const LAST_PAGE_AT = 120;
const TRANSACTION_AT = 128;
const HEADER_END = 136;
const PAGE_SIZE_MAX = 65_536;

export interface FileState {
  /** The file held less than its header says, and was made longer: whether something is missing is to be seen. */
  readonly wasShort: boolean;
}

/** Makes sure that the file exists, is private, and can be mapped. Throws "Damaged" if it cannot be lmdb's. */
export async function prepareDataFile(path: string): Promise<FileState> {
  await makePrivateFile(path);
  const sizeBytes = await fileSizeBytes(path);
  if (sizeBytes === 0) return { wasShort: false };
  const wantedBytes = wantedSizeBytes(await readHead(path, PAGE_SIZE_MAX * 2), path);
  if (sizeBytes >= wantedBytes) return { wasShort: false };
  await extendFile(path, wantedBytes);
  return { wasShort: true };
}

/** The size that the newer of the two header pages speaks of. */
function wantedSizeBytes(head: Buffer, path: string): number {
  const first = readHeaderPage(head, 0);
  if (first === undefined) throw damaged(`${path} does not begin as a data file does`);
  const second = readHeaderPage(head, first.pageSize);
  if (second === undefined) throw damaged(`the second header of ${path} is broken`);
  const newer = second.transaction > first.transaction ? second : first;
  return (newer.lastPage + 1) * newer.pageSize;
}

function readHeaderPage(
  head: Buffer,
  start: number,
): { readonly pageSize: number; readonly lastPage: number; readonly transaction: bigint } | undefined {
  const magicAt = findMagic(head, start);
  if (magicAt === undefined || magicAt + HEADER_END > head.length) return undefined;
  const pageSize = head.readUInt32LE(magicAt + PAGE_SIZE_AT);
  const lastPage = head.readBigUInt64LE(magicAt + LAST_PAGE_AT);
  if (pageSize < 256 || pageSize > PAGE_SIZE_MAX || lastPage > 2n ** 40n) return undefined;
  return { pageSize, lastPage: Number(lastPage), transaction: head.readBigUInt64LE(magicAt + TRANSACTION_AT) };
}

function findMagic(head: Buffer, start: number): number | undefined {
  for (let offset = start; offset <= start + MAGIC_OFFSET_MAX && offset + 4 <= head.length; offset += 4) {
    if (head.readUInt32LE(offset) === MAGIC) return offset;
  }
  return undefined;
}

/** Less room than this for an ordinary user counts as full: lmdb reports a full disk only as a failed write. */
const FULL_BELOW_BYTES = 1_048_576;

/**
 * What a failed write means. After "Full" the file is as it was before and may be written again when there is space. After
 * anything else nobody can say what reached the disk, so nothing may follow it.
 */
export async function explainWriteFailure(error: unknown, directory: string): Promise<StoreError> {
  const free = await freeBytes(directory).catch(() => Infinity);
  const code = (error as { code?: unknown }).code;
  if (code === "ENOSPC" || free < FULL_BELOW_BYTES) {
    return new StoreError("Full", `Cannot write to ${directory}: no space left on the disk; make room and try again, reads go on`, {
      cause: error,
    });
  }
  return new StoreError(
    "WriteFailed",
    `Cannot write to ${directory}: ${(error as Error).message}; check the disk and start again, reads go on`,
    { cause: error },
  );
}
