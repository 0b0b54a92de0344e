/** Checks shared by all restorable drivers: what is rejected during a restore, and which entries. */
import type { Entry } from "./store.ts";
import { checkKey } from "./key.ts";
import { StoreError } from "./store-error.ts";

export function notEmptyError(revision: number): StoreError {
  return new StoreError(
    "Invalid",
    `Cannot restore: the store has been written to and is at revision ${revision}; restore into an empty one`,
  );
}

export function restoringError(action: string): StoreError {
  return new StoreError("Invalid", `Cannot ${action}: the store is being restored; wait until that is done`);
}

/** Throws "Invalid" unless `entry` can be part of a snapshot of `revision`. */
export function checkRestored(entry: Entry, revision: number): void {
  checkKey(entry.key);
  if (!Number.isSafeInteger(entry.revision) || entry.revision < 1 || entry.revision > revision) {
    throw new StoreError(
      "Invalid",
      `Cannot restore ${entry.key}: its revision ${entry.revision} is not one of a snapshot at revision ${revision}`,
    );
  }
}
