/**
 * Frees the space of what compaction has made unreadable: records that a newer one up to the compacted revision replaced,
 * and deletions with their index entry. A piece per transaction, with its progress in the same transaction, so that it
 * holds nobody up and goes on after a crash where it was.
 */
import type { Clock } from "../../base/clock.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf, revisionOf } from "./records.ts";

/** Log records looked at per transaction. */
const RECORDS_PER_PIECE = 1_000;

export interface CleanerOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Whether a write of the key is on its way to the disk, which will replace its index entry. */
  readonly isPending: (key: string) => boolean;
  readonly signal: AbortSignal;
}

/** Cleans the log after revision `cleaned` up to `compacted`. Stops early, with the progress kept, when the signal says so. */
export async function clean({ disk, clock, isPending, signal }: CleanerOptions, cleaned: number, compacted: number): Promise<void> {
  for (let from = cleaned; from < compacted && !signal.aborted;) {
    const through = cleanPiece(disk, isPending, from, compacted);
    disk.putMeta("cleaned", through);
    await clock.external(disk.written());
    from = through;
  }
}

/** Returns the revision up to which everything is cleaned. */
function cleanPiece(disk: Disk, isPending: (key: string) => boolean, cleaned: number, compacted: number): number {
  const replaced: number[] = [];
  const deleted: { readonly key: string; readonly position: number }[] = [];
  let looked = 0;
  let through = compacted;
  disk.visitLog({ from: positionOf(cleaned + 1, 0), before: positionOf(compacted + 1, 0) }, (position, { key, previous, ...record }) => {
    // A revision is cleaned whole: it has fewer records than a piece, so there is always progress.
    if (looked >= RECORDS_PER_PIECE && revisionOf(position) > cleaned + 1) {
      through = revisionOf(position) - 1;
      return false;
    }
    looked += 1;
    if (previous !== NO_POSITION) replaced.push(previous);
    if (record.deleted) deleted.push({ key, position });
    return true;
  });
  for (const position of replaced) disk.removeRecord(position);
  for (const { key, position } of deleted) {
    disk.removeRecord(position);
    if (!isPending(key) && disk.head(key)?.position === position) disk.removeHead(key);
  }
  return through;
}
