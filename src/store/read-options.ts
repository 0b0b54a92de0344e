/** What every driver does with the options of a read, and with the revision to compact to, before anything else. */
import type { ListOptions, ReadOptions } from "./store.ts";
import { StoreError, compacted, futureRevision } from "./store-error.ts";

/** Throws "Invalid" unless `limit` and `revision` are whole numbers above 0, where they are given. */
export function checkReadOptions({ revision, limit }: ListOptions): void {
  if (revision !== undefined && !isPositive(revision)) {
    throw new StoreError("Invalid", `Cannot use revision ${revision}: a revision is a whole number above 0`);
  }
  if (limit !== undefined && !isPositive(limit)) {
    throw new StoreError("Invalid", `Cannot list at most ${limit} entries: a limit is a whole number above 0`);
  }
}

/** The revision to read at. Throws "Compacted" or "FutureRevision" if that cannot be done. */
export function revisionToRead(options: ReadOptions, kept: { readonly newest: number; readonly compacted: number }): number {
  const { revision } = options;
  if (revision === undefined) return kept.newest;
  if (revision > kept.newest) throw futureRevision(revision, kept.newest);
  if (revision < kept.compacted) throw compacted(revision, kept.compacted);
  return revision;
}

function isPositive(number: number): boolean {
  return Number.isSafeInteger(number) && number > 0;
}
