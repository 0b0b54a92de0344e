/** Validation of read options and of the revision to compact to, shared by all drivers. */
import type { ListOptions, ReadOptions } from "./store.ts";
import { StoreError, compacted, futureRevision } from "./store-error.ts";

/** Throws "Invalid" unless `limit` and `revision` are positive integers, where given. */
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
