/**
 * Fills an empty store from a snapshot, in pieces. A mark that is on disk before the first piece and goes with the last one
 * tells whoever opens the directory after a crash that what is there is only a part, and may be forgotten.
 */
import type { Clock } from "../../base/clock.ts";
import type { Entry } from "../store.ts";
import { checkRestored } from "../restoring.ts";
import { StoreError, closed } from "../store-error.ts";
import type { Disk } from "./disk.ts";
import { NO_POSITION, POSITIONS_PER_REVISION, positionOf } from "./records.ts";
import { roomForValues } from "./room.ts";

/** Entries written per transaction. */
const ENTRIES_PER_PIECE = 1_000;

export interface RestoreOptions {
  readonly disk: Disk;
  readonly clock: Clock;
  /** Stops the restoring, which then leaves nothing. */
  readonly signal: AbortSignal;
  readonly firstRevision: number;
}

/** Returns the number of keys. Whatever goes wrong, the store is empty again afterwards. Nobody else may write meanwhile. */
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

async function writeEntries({ disk, clock, signal }: RestoreOptions, entries: AsyncIterable<Entry>, newest: number): Promise<number> {
  const operations = new Map<number, number>(); // How many keys a revision has already; only some commits wrote several.
  let keys = 0;
  let piece: { readonly entry: Entry; readonly position: number }[] = [];
  const writePiece = async () => {
    const whole = piece;
    piece = [];
    const room = roomForValues(whole.map(({ entry }) => entry.value.bytes()));
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
