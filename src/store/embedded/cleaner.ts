/**
 * Frees the space of what compaction has made unreadable: records that a newer one up to the compacted revision replaced,
 * and deletions with their index entry. A piece per transaction, with its progress in the same transaction, so that it
 * holds nobody up and goes on after a crash where it was.
 */
import type { Clock } from "../../base/clock.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf, revisionOf } from "./records.ts";

/** Log records looked at per transaction. */
const RECORDS_PER_PIECE = 500;

/**
 * Bytes freed per transaction, about. lmdb writes down which pages are free, and for more than some 500 of them (2 MB) it
 * needs several pages in a row, which on a full disk there are not: then nothing could be written any more, for ever.
 */
const BYTES_PER_PIECE = 1_048_576;

export interface CleanerOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Whether a write of the key is on its way to the disk, which will replace its index entry. */
  readonly isPending: (key: string) => boolean;
  readonly signal: AbortSignal;
}

/** Cleans the log after revision `cleaned` up to `compacted`, or less if the signal says stop. Returns how far it came. */
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
      // On a full disk even freeing needs some space, to write down what is free: less for less.
      if (records === 1) throw error;
      records = Math.ceil(records / 10);
    }
  }
  return from;
}

/** What can go, up to and including a revision. */
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
    // A revision is cleaned whole, so there is always progress.
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

/** Called in the turn in which the piece was found, so that what is pending now is all that may come after. */
function removePiece({ disk, isPending }: CleanerOptions, { replaced, deleted, through }: Piece): void {
  // The log's last record may be a deletion that is removed here, and with it the newest revision.
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
