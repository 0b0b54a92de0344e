/**
 * Gives space back to the file system. lmdb keeps the pages that compaction frees, for later writes; a store that was once
 * large and is not any more would keep its size for ever. So when a store is opened whose file is mostly free pages, the rest
 * is copied to a new file, which then takes its place. Dying anywhere leaves the old file or the new one, each whole.
 */
import { makePrivateFile, removeFile, replaceFile, syncFile } from "../../host/files.ts";
import type { Disk } from "./disk.ts";

/** Smaller files are not worth the copying: a start takes at most a second. */
const SHRINK_ABOVE_BYTES = 64 * 1_048_576;

export function isMostlyFree({ sizeBytes, usedBytes }: { readonly sizeBytes: number; readonly usedBytes: number }): boolean {
  return sizeBytes > SHRINK_ABOVE_BYTES && usedBytes < sizeBytes / 2;
}

/** Returns the store in the new file; or as it was, if there is no space for a copy. Closes what it does not return. */
export async function shrink(disk: Disk, file: string, open: (file: string) => Disk): Promise<Disk> {
  const copy = `${file}.smaller`;
  try {
    await removeFile(copy); // Of a process that died over it.
    await disk.copyTo(copy);
    await makePrivateFile(copy);
    await syncFile(copy);
  } catch {
    await removeFile(copy);
    return disk;
  }
  await disk.close();
  await replaceFile(copy, file);
  return open(file);
}
