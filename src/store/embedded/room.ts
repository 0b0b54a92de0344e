/**
 * Whether a transaction fits on the disk, asked before lmdb is: the library describes a write that found no space in fewer bytes than the
 * description takes, which can end the process. So it is never let run out. What is refused has the same meaning as if the disk had said so.
 *
 * Growing stops while there is still room for what frees: deletions, and what compaction does. Values may go on as long as the file itself has
 * free pages for them.
 */
import { StoreError } from "../store-error.ts";

/** lmdb's, on every machine whose own are not larger. */
const PAGE_BYTES = 4_096;

/** Pages that one write changes beside those of its value: of the log and of the index, the way down to each shared with others. */
const PAGES_PER_WRITE = 2;

/** What a transaction takes without any value: its numbers, the list of free pages, the ways down. */
const TRANSACTION_BYTES = 256 * 1_024;

/** Left over for what frees. */
const KEPT_BYTES = 1_048_576;

/** What a transaction may take at most. */
export interface WantedRoom {
  readonly bytes: number;
  /** It makes the file no larger in the long run. */
  readonly frees: boolean;
}

/** Of one that only writes down numbers, or removes records. */
export const ROOM_TO_FREE: WantedRoom = { bytes: TRANSACTION_BYTES, frees: true };

/** Of one that writes these values; undefined: a deletion. */
export function roomForValues(values: Iterable<Uint8Array | undefined>): WantedRoom {
  let bytes = TRANSACTION_BYTES;
  let frees = true;
  for (const value of values) {
    bytes += (Math.ceil((value?.length ?? 0) / PAGE_BYTES) + PAGES_PER_WRITE) * PAGE_BYTES;
    if (value !== undefined) frees = false;
  }
  return { bytes, frees };
}

export interface Room {
  /** What can still be written to the file system. */
  readonly freeBytes: number;
  /** Pages of the file that nothing is in. Asked only if it matters, since it takes a walk. */
  unusedBytes(): number;
}

export function fits({ bytes, frees }: WantedRoom, { freeBytes, unusedBytes }: Room): boolean {
  if (freeBytes >= bytes + KEPT_BYTES) return true;
  return freeBytes >= bytes && (frees || unusedBytes() >= 2 * bytes);
}

export function noSpaceLeft(directory: string, cause?: unknown): StoreError {
  const message = `Cannot write to ${directory}: no space left on the disk; make room and try again, reads go on`;
  return new StoreError("Full", message, ...(cause === undefined ? [] : [{ cause }]));
}
