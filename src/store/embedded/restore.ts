/**
 * Fills an empty store from a snapshot, in pieces. A mark that is on disk before the first piece and goes with the last one
 * tells whoever opens the directory after a crash that what is there is only a part, and may be forgotten.
 */
import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../store.ts";
import { StoreError } from "../store-error.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, positionOf } from "./records.ts";

/** Entries written per transaction. */
const ENTRIES_PER_PIECE = 1_000;

export interface RestoreTarget {
  readonly revision: number;
  /** Whether the store is as it was made. */
  readonly isNew: () => boolean;
}

/** Returns the number of keys. Whatever goes wrong, the store is empty again afterwards. */
export async function restoreEntries(disk: Disk, clock: Clock, entries: AsyncIterable<Entry>, target: RestoreTarget): Promise<number> {
  if (!target.isNew())
    throw new StoreError("Invalid", "Cannot restore: the store has been written to; restore into an empty data directory");
  await clock.external(disk.write(() => disk.putMeta("restoring", 1)));
  try {
    const keys = await writeEntries(disk, clock, entries, target.revision);
    await clock.external(disk.write(() => putNumbers(disk, target.revision, keys)));
    return keys;
  } catch (error) {
    await forgetHalfRestored(disk, disk.meta("revision") ?? 1);
    throw error;
  }
}

/** Empties a store that was being restored when it was stopped. */
export async function forgetHalfRestored(disk: Disk, firstRevision: number): Promise<void> {
  await disk.write(() => {
    disk.clear();
    putNumbers(disk, firstRevision, 0);
  });
}

function putNumbers(disk: Disk, revision: number, keys: number): void {
  for (const name of ["revision", "compacted", "cleaned"] as const) disk.putMeta(name, revision);
  disk.putMeta("keys", keys);
  disk.putMeta("restoring", 0);
}

async function writeEntries(disk: Disk, clock: Clock, entries: AsyncIterable<Entry>, newest: number): Promise<number> {
  const operations = new Map<number, number>(); // How many keys a revision has already; only some commits wrote several.
  let keys = 0;
  let piece: { readonly entry: Entry; readonly position: number }[] = [];
  const writePiece = async () => {
    const whole = piece;
    piece = [];
    await clock.external(disk.write(() => whole.forEach(({ entry, position }) => putEntry(disk, entry, position))));
  };
  for await (const entry of entries) {
    const { key, revision } = entry;
    if (revision > newest) {
      throw new StoreError("Invalid", `Cannot restore ${key}: its revision ${revision} is newer than the snapshot's, ${newest}`);
    }
    const operation = operations.get(revision) ?? 0;
    operations.set(revision, operation + 1);
    piece.push({ entry, position: positionOf(revision, operation) });
    keys += 1;
    if (piece.length === ENTRIES_PER_PIECE) await writePiece();
  }
  await writePiece();
  return keys;
}

function putEntry(disk: Disk, { key, value }: Entry, position: number): void {
  disk.putRecord(position, { key, deleted: false, previous: NO_POSITION }, value.bytes());
}
