/**
 * Gives space back to the file system. lmdb keeps the pages that compaction frees, for later writes; a store that was once
 * large and is not any more would keep its size for ever. So when a store is opened whose file is mostly free pages, the rest
 * is written to a new file, which then takes its place. Dying anywhere leaves the old file or the new one, each whole.
 * (lmdb has a copy of its own, whose pages page-check.ts cannot tell from damaged ones.)
 */
import { makePrivateFile, removeFile, replaceFile, syncFile } from "../../host/files.ts";
import type { Disk, MetaName } from "./disk.ts";
import type { LogRecord } from "./records.ts";
import { roomForValues } from "./room.ts";

/** Smaller files are not worth the copying: a start takes at most a second. */
const SHRINK_ABOVE_BYTES = 64 * 1_048_576;

/** Written per transaction, about: as much as one may hold in memory. */
const BYTES_PER_PIECE = 16 * 1_048_576;

/** All numbers but that of the owner, who takes possession of the new file as of any. */
const NUMBERS: readonly MetaName[] = ["format", "revision", "keys", "compacted", "cleaned", "restoring"];

export function isMostlyFree({ sizeBytes, usedBytes }: { readonly sizeBytes: number; readonly usedBytes: number }): boolean {
  return sizeBytes > SHRINK_ABOVE_BYTES && usedBytes < sizeBytes / 2;
}

/** Returns the store in the new file; or as it was, if it cannot be copied. Closes what it does not return. */
export async function shrink(disk: Disk, file: string, open: (file: string) => Disk): Promise<Disk> {
  const copy = `${file}.smaller`;
  try {
    await removeCopy(copy); // Of a process that died over it.
    await makePrivateFile(copy);
    await copyInto(copy, disk, open);
    await syncFile(copy);
  } catch {
    await removeCopy(copy); // No space, most likely. The old file is as good as it was.
    return disk;
  }
  await disk.close();
  await replaceFile(copy, file);
  await removeCopy(copy);
  return open(file);
}

async function copyInto(file: string, disk: Disk, open: (file: string) => Disk): Promise<void> {
  const smaller = open(file);
  try {
    for (let from: number | undefined = 0; from !== undefined;) from = await copyPiece(disk, smaller, from);
    await smaller.write(() => {
      for (const name of NUMBERS) smaller.putMeta(name, disk.meta(name) ?? 0);
    });
  } finally {
    await smaller.close();
  }
}

/** Copies records from `from` on, in order, so that each key's head ends as its last record. Returns where to go on, or undefined at the end. */
async function copyPiece(disk: Disk, smaller: Disk, from: number): Promise<number | undefined> {
  const records: { readonly position: number; readonly record: LogRecord }[] = [];
  let next: number | undefined;
  let sizeBytes = 0;
  disk.visitLog({ from, before: Number.MAX_SAFE_INTEGER }, (position, record) => {
    if (sizeBytes >= BYTES_PER_PIECE) next = position;
    else records.push({ position, record });
    sizeBytes += disk.recordBytes(position);
    return next === undefined;
  });
  const values = records.map(({ position, record }) => disk.value(position, record.key) ?? new Uint8Array(0));
  await smaller.write(
    () => records.forEach(({ position, record }, index) => smaller.putRecord(position, record, values[index] as Uint8Array)),
    roomForValues(values),
  );
  return next;
}

async function removeCopy(copy: string): Promise<void> {
  for (const name of [copy, `${copy}-lock`]) await removeFile(name);
}
