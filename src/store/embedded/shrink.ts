/**
 * Returns space to the file system. lmdb keeps the pages that compaction frees, for later writes; a store that was once large would keep
 * its size forever, and its process the memory of the mapping. So the data is copied to a new file, which then replaces the old one: at
 * opening, and while the store is in use. A crash at any point leaves the old file or the new one, each complete. (lmdb has a copy of its
 * own, whose pages page-check.ts cannot distinguish from damaged ones.)
 *
 * While the store is in use only the writer changes it, and that only appends to the log: compaction waits. So records are copied in order
 * while commits continue, and only for the last of them, and for the rename, commits wait.
 */
import { joinPath, makePrivateFile, moveFile, removeFile, syncDirectory, syncFile } from "../../host/files/files.ts";
import { StoreError } from "../store-error.ts";
import type { Disk, MetaName } from "./disk.ts";
import type { LogRecord } from "./records.ts";
import { spaceForValues } from "./disk-space.ts";

interface Sizes {
  readonly sizeBytes: number;
  readonly usedBytes: number;
}

/** Minimum size for copying at opening: a start takes at most a second. */
const SHRINK_AT_OPEN_ABOVE_BYTES = 64 * 1_048_576;

/** Below this a running store keeps its free pages: the next burst of writes uses them. */
export const SHRINK_ABOVE_BYTES = 16 * 1_048_576;

/**
 * The used part below which a running store is copied. Under a steady load compaction removes one of two intervals of
 * history, which leaves a half in use; a file is copied only when the load is over.
 */
const USED_PART_MAX = 1 / 4;

/** Bytes copied per transaction, approximately: bounds the memory and the blocking of the event loop. */
const BYTES_PER_PIECE = 2 * 1_048_576;
const RECORDS_PER_PIECE = 500;

/** Suffix of the new file while it is written. */
export const SMALLER_SUFFIX = ".smaller";

const NUMBERS: readonly MetaName[] = ["format", "revision", "keys", "compacted", "cleaned", "restoring", "owner"];

/** Whether a store that is being opened is worth copying. */
export function isMostlyFree({ sizeBytes, usedBytes }: Sizes): boolean {
  return sizeBytes > SHRINK_AT_OPEN_ABOVE_BYTES && usedBytes < sizeBytes / 2;
}

/** Whether a store in use is worth copying. */
export function hasMuchToReturn({ sizeBytes, usedBytes }: Sizes, aboveBytes = SHRINK_ABOVE_BYTES): boolean {
  return sizeBytes > aboveBytes && usedBytes < sizeBytes * USED_PART_MAX;
}

export interface ShrinkOptions {
  readonly disk: Disk;
  readonly file: string;
  readonly open: (file: string) => Disk;
  /** Cancels; the store stays in its file. */
  readonly signal?: AbortSignal;
}

/** Moves the data of `disk` to a smaller file of the same name. Returns false, with the store in its old file, if it cannot be copied. */
export async function shrink({ disk, file, open, signal }: ShrinkOptions): Promise<boolean> {
  const copy = `${file}${SMALLER_SUFFIX}`;
  let smaller: Disk | undefined;
  let closeOld: () => Promise<void>;
  try {
    await removeCopy(copy); // Left by a process that died during a copy.
    for (const name of [`${copy}-lock`, copy]) await makePrivateFile(name);
    smaller = open(copy);
    closeOld = await copyAndMove({ disk, smaller, copy, file, ...(signal === undefined ? {} : { signal }) });
  } catch {
    await smaller?.close();
    await removeCopy(copy); // Most likely no space. The old file is intact.
    return false;
  }
  await closeOld();
  return true;
}

interface Move {
  readonly disk: Disk;
  readonly smaller: Disk;
  readonly copy: string;
  readonly file: string;
  readonly signal?: AbortSignal;
}

/** Returns what closes the old file. */
async function copyAndMove({ disk, smaller, copy, file, signal }: Move): Promise<() => Promise<void>> {
  const copied = await copyRecords({ disk, smaller, from: 0, ...(signal === undefined ? {} : { signal }) });
  let closeOld: () => Promise<void> = () => Promise.resolve();
  await disk.withoutWrites(async () => {
    disk.refresh();
    await copyRecords({ disk, smaller, from: copied });
    await smaller.write(() => copyNumbers(disk, smaller));
    await syncFile(copy);
    // Locks first: a process that opens the file by its name must find our locks.
    await moveFile(`${copy}-lock`, `${file}-lock`);
    await moveFile(copy, file);
    closeOld = disk.moveTo(smaller);
    await syncDirectory(joinPath(file, "..")).catch((error: unknown) => disk.refuseWrites(notDurable(file, error)));
  });
  return closeOld;
}

function copyNumbers(disk: Disk, smaller: Disk): void {
  for (const name of NUMBERS) {
    const number = disk.meta(name);
    if (number !== undefined) smaller.putMeta(name, number);
  }
}

/** Copies all records from position `from` on. Returns the position after the last one. */
async function copyRecords(options: Pick<Move, "disk" | "smaller" | "signal"> & { readonly from: number }): Promise<number> {
  const { disk, smaller, signal } = options;
  for (let from = options.from; ;) {
    signal?.throwIfAborted();
    const { next, isLast } = await copyPiece(disk, smaller, from);
    if (isLast) return next;
    from = next;
  }
}

/** Copies records in order, so that each key's head ends as its last record. */
async function copyPiece(disk: Disk, smaller: Disk, from: number): Promise<{ readonly next: number; readonly isLast: boolean }> {
  const records: { readonly position: number; readonly record: LogRecord }[] = [];
  let isLast = true;
  let sizeBytes = 0;
  disk.visitLog({ from, before: Number.MAX_SAFE_INTEGER }, (position, record) => {
    isLast = sizeBytes < BYTES_PER_PIECE && records.length < RECORDS_PER_PIECE;
    if (isLast) records.push({ position, record });
    sizeBytes += disk.recordBytes(position);
    return isLast;
  });
  const values = records.map(({ position, record }) => disk.value(position, record.key) ?? new Uint8Array(0));
  if (records.length > 0) {
    await smaller.write(
      () => records.forEach(({ position, record }, index) => smaller.putRecord(position, record, values[index] as Uint8Array)),
      spaceForValues(values),
    );
  }
  return { next: (records.at(-1)?.position ?? from - 1) + 1, isLast };
}

async function removeCopy(copy: string): Promise<void> {
  for (const name of [copy, `${copy}-lock`]) await removeFile(name);
}

/** After a power failure the old file might be back, without what is written from now on. */
function notDurable(file: string, cause: unknown): StoreError {
  return new StoreError(
    "WriteFailed",
    `Cannot write to ${file}: its directory cannot be synced; check the disk and restart; reads still work`,
    {
      cause,
    },
  );
}
