/**
 * Decides whether a transaction fits on the disk, before lmdb runs it: the library formats a write error into a buffer that is too small,
 * which can end the process. So the disk is never allowed to fill up. A rejection has the same meaning as ENOSPC.
 *
 * Growth stops while there is still space for operations that free: deletions and compaction. Values are accepted as long as the file
 * itself has free pages for them.
 */
import { StoreError } from "../store-error.ts";

/** lmdb's page size, on every machine whose own is not larger. */
const PAGE_BYTES = 4_096;

/** Pages that one write changes besides those of its value: of the log and of the index, with the path to each shared. */
const PAGES_PER_WRITE = 2;

/** Size of a transaction without any value: metadata, the list of free pages, the tree paths. */
const TRANSACTION_BYTES = 256 * 1_024;

/** Reserved for operations that free. */
const KEPT_BYTES = 1_048_576;

/** Maximum size of a transaction. */
export interface RequiredSpace {
  readonly bytes: number;
  /** It does not enlarge the file in the long run. */
  readonly frees: boolean;
}

/** For a transaction that only writes metadata, or removes records. */
export const SPACE_TO_FREE: RequiredSpace = { bytes: TRANSACTION_BYTES, frees: true };

/** For a transaction that writes these values; undefined: a deletion. */
export function spaceForValues(values: Iterable<Uint8Array | undefined>): RequiredSpace {
  let bytes = TRANSACTION_BYTES;
  let frees = true;
  for (const value of values) {
    bytes += (Math.ceil((value?.length ?? 0) / PAGE_BYTES) + PAGES_PER_WRITE) * PAGE_BYTES;
    if (value !== undefined) frees = false;
  }
  return { bytes, frees };
}

export interface DiskSpace {
  /** Free space of the file system. */
  readonly freeBytes: number;
  /** Free pages of the file. Called only if needed, since it takes a walk. */
  unusedBytes(): number;
}

export function fits({ bytes, frees }: RequiredSpace, { freeBytes, unusedBytes }: DiskSpace): boolean {
  if (freeBytes >= bytes + KEPT_BYTES) return true;
  return freeBytes >= bytes && (frees || unusedBytes() >= 2 * bytes);
}

export function noSpaceLeft(directory: string, cause?: unknown): StoreError {
  const message = `Cannot write to ${directory}: no space left on the disk; free some space and retry; reads still work`;
  return new StoreError("Full", message, ...(cause === undefined ? [] : [{ cause }]));
}
