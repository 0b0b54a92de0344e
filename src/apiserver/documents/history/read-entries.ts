/** Reads the entries of a prefix at a revision, up to a number and up to a number of bytes: a response is in memory as a whole. */
import type { Entry, Store } from "../../../store/store.ts";

/** Maximum bytes of entries in one response. */
export const PAGE_BYTES_MAX = 16 * 1024 * 1024;
/** Entries that are read at once: the limit of bytes is exceeded by those of one batch at most. */
const BATCH = 100;

export interface EntriesOptions {
  readonly revision: number;
  readonly limit: number;
  readonly startAfter?: string;
}

export interface EntriesPage {
  readonly entries: readonly Entry[];
  readonly isLast: boolean;
}

/** At least one entry, if there is any. */
export async function readEntries(
  store: Pick<Store, "list">,
  prefix: string,
  { revision, limit, startAfter }: EntriesOptions,
): Promise<EntriesPage> {
  const entries: Entry[] = [];
  let bytes = 0;
  let after = startAfter;
  for (;;) {
    const batch = Math.min(BATCH, limit - entries.length);
    const page = await store.list(prefix, {
      ...{ revision, countRemaining: false, limit: batch },
      ...(after === undefined ? {} : { startAfter: after }),
    });
    for (const entry of page.entries) {
      if (entries.length > 0 && bytes + entry.value.sizeBytes() > PAGE_BYTES_MAX) return { entries, isLast: false };
      entries.push(entry);
      bytes += entry.value.sizeBytes();
    }
    after = entries.at(-1)?.key;
    if (page.remaining === 0) return { entries, isLast: true };
    if (entries.length >= limit) return { entries, isLast: false };
  }
}
