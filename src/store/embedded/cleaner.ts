/**
 * Frees the space of compacted history: records superseded up to the compacted revision, and deletions with their index entry. One batch
 * per transaction, with its progress in the same transaction, so that it delays no writer and resumes after a crash.
 */
import type { Clock } from "../../base/clock.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf, revisionOf } from "./records.ts";

/** Log records scanned per transaction. */
const RECORDS_PER_PIECE = 500;

/**
 * Bytes freed per transaction, approximately. lmdb records free pages, and for more than some 500 of them (2 MB) it needs contiguous pages,
 * which a full disk does not have: then nothing could ever be written again.
 */
const BYTES_PER_PIECE = 1_048_576;

export interface CleanerOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Whether a write of the key is in flight, which will replace its index entry. */
  readonly isPending: (key: string) => boolean;
  readonly signal: AbortSignal;
}

/** Cleans the log after revision `cleaned` up to `compacted`, or less if the signal aborts. Returns its progress. */
export async function clean(options: CleanerOptions, cleaned: number, compacted: number): Promise<number> {
  const { disk, clock, signal } = options;
  let from = cleaned;
  let records = RECORDS_PER_PIECE;
  while (from < compacted && !signal.aborted) {
    const piece = findPiece(disk, from, compacted, records);
    try {
      await clock.external(disk.write(() => removePiece(options, piece)));
      from = piece.through;
    } catch (error) {
      // On a full disk even freeing needs some space for the free list: free less at a time.
      if (records === 1) throw error;
      records = Math.ceil(records / 10);
    }
  }
  return from;
}

/** Removable records, up to and including a revision. */
interface Piece {
  readonly replaced: readonly number[];
  readonly deleted: readonly { readonly key: string; readonly position: number }[];
  readonly through: number;
}

function findPiece(disk: Disk, cleaned: number, compacted: number, records: number): Piece {
  const replaced: number[] = [];
  const deleted: { readonly key: string; readonly position: number }[] = [];
  let looked = 0;
  let freedBytes = 0;
  let through = compacted;
  disk.visitLog({ from: positionOf(cleaned + 1, 0), before: positionOf(compacted + 1, 0) }, (position, { key, previous, ...record }) => {
    // A revision is cleaned as a whole, so that there is always progress.
    if ((looked >= records || freedBytes >= BYTES_PER_PIECE) && revisionOf(position) > cleaned + 1) {
      through = revisionOf(position) - 1;
      return false;
    }
    looked += 1;
    if (previous !== NO_POSITION) {
      replaced.push(previous);
      freedBytes += disk.recordBytes(previous);
    }
    if (record.deleted) deleted.push({ key, position });
    return true;
  });
  return { replaced, deleted, through };
}

/** Called in the tick in which the batch was found, so that what is pending now is all that may follow. */
function removePiece({ disk, isPending }: CleanerOptions, { replaced, deleted, through }: Piece): void {
  // The last record of the log may be a deletion that is removed here, and with it the newest revision.
  const newest = disk.newest();
  if (newest !== undefined && deleted.length > 0) {
    disk.putMeta("revision", newest.revision);
    disk.putMeta("keys", newest.keys);
  }
  disk.putMeta("cleaned", through);
  for (const position of replaced) disk.removeRecord(position);
  for (const { key, position } of deleted) {
    disk.removeRecord(position);
    if (!isPending(key) && disk.head(key)?.position === position) disk.removeHead(key);
  }
}
