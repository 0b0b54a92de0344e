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
  disk.putMeta("restoring", 1);
  await clock.external(disk.written());
  try {
    const keys = await writeEntries(disk, clock, entries, target.revision);
    for (const name of ["revision", "compacted", "cleaned"] as const) disk.putMeta(name, target.revision);
    disk.putMeta("keys", keys);
    disk.putMeta("restoring", 0);
    await clock.external(disk.written());
    return keys;
  } catch (error) {
    await forgetHalfRestored(disk, disk.meta("revision") ?? 1);
    throw error;
  }
}

/** Empties a store that was being restored when it was stopped. */
export async function forgetHalfRestored(disk: Disk, firstRevision: number): Promise<void> {
  disk.clear();
  for (const name of ["revision", "compacted", "cleaned"] as const) disk.putMeta(name, firstRevision);
  disk.putMeta("keys", 0);
  disk.putMeta("restoring", 0);
  await disk.written();
}

async function writeEntries(disk: Disk, clock: Clock, entries: AsyncIterable<Entry>, newest: number): Promise<number> {
  const operations = new Map<number, number>(); // How many keys a revision has already; only some commits wrote several.
  let keys = 0;
  for await (const { key, revision, value } of entries) {
    if (revision > newest)
      throw new StoreError("Invalid", `Cannot restore ${key}: its revision ${revision} is newer than the snapshot's, ${newest}`);
    const operation = operations.get(revision) ?? 0;
    operations.set(revision, operation + 1);
    disk.putRecord(positionOf(revision, operation), { key, deleted: false, previous: NO_POSITION }, value.bytes());
    keys += 1;
    if (keys % ENTRIES_PER_PIECE === 0) await clock.external(disk.written());
  }
  return keys;
}
