/**
 * Fills an empty store from a snapshot, in batches. A marker that is on disk before the first batch and removed with the last one shows,
 * after a crash, that the content is incomplete and may be dropped.
 */
import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../store.ts";
import { checkRestored } from "../restore-checks.ts";
import { StoreError, closed } from "../store-error.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, POSITIONS_PER_REVISION, positionOf } from "./records.ts";
import { spaceForValues } from "./disk-space.ts";

/** Entries written per transaction. */
const ENTRIES_PER_PIECE = 1_000;

export interface RestoreOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Cancels the restore, which then leaves nothing. */
  readonly signal: AbortSignal;
  readonly firstRevision: number;
}

/** Returns the number of keys. After any failure the store is empty again. There must be no concurrent writes. */
export async function restoreEntries(options: RestoreOptions, entries: AsyncIterable<Entry>, revision: number): Promise<number> {
  const { disk, clock, firstRevision } = options;
  await clock.external(disk.write(() => disk.putMeta("restoring", 1)));
  try {
    const keys = await writeEntries(options, entries, revision);
    await clock.external(disk.write(() => putNumbers(disk, revision, keys)));
    return keys;
  } catch (error) {
    await clock.external(forgetHalfRestored(disk, firstRevision));
    throw error;
  }
}

/** Empties a store whose restore was interrupted. */
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

async function writeEntries({ disk, clock, signal }: RestoreOptions, entries: AsyncIterable<Entry>, newest: number): Promise<number> {
  const operations = new Map<number, number>(); // Number of keys of the current revision; only some commits wrote several.
  let keys = 0;
  let piece: { readonly entry: Entry; readonly position: number }[] = [];
  const writePiece = async () => {
    const whole = piece;
    piece = [];
    const room = spaceForValues(whole.map(({ entry }) => entry.value.bytes()));
    await clock.external(disk.write(() => whole.forEach(({ entry, position }) => putEntry(disk, entry, position)), room));
  };
  for await (const entry of entries) {
    if (signal.aborted) throw closed("restore");
    checkRestored(entry, newest);
    const operation = operations.get(entry.revision) ?? 0;
    if (operation === POSITIONS_PER_REVISION) {
      throw new StoreError("Invalid", `Cannot restore ${entry.key}: more than ${operation} keys have revision ${entry.revision}`);
    }
    operations.set(entry.revision, operation + 1);
    piece.push({ entry, position: positionOf(entry.revision, operation) });
    keys += 1;
    if (piece.length === ENTRIES_PER_PIECE) await writePiece();
  }
  await writePiece();
  return keys;
}

function putEntry(disk: Disk, { key, value }: Entry, position: number): void {
  disk.putRecord(position, { key, deleted: false, previous: NO_POSITION, keys: 0 }, value.bytes());
}
