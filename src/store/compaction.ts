/**
 * Decides when history is forgotten: what is older than one to two intervals goes, and never more than a number of
 * revisions is kept. The drivers' `compact` does the work.
 *
 * Several API servers on one etcd take turns by compare-and-swap on one key, as upstream does: whoever finds the key as it
 * was one interval ago replaces it with the newest revision and compacts to the revision that was written there; who
 * loses the race looks again an interval later. Nobody's clock is compared with anybody else's.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Entry, Store } from "./store.ts";
import type { Running } from "./expiry.ts";
import { bookkeepingPrefix } from "./key.ts";
import { isStoreError } from "./store-error.ts";
import { bytesValue } from "./value.ts";

export interface CompactionPolicy {
  /** History is kept at least this long and at most twice as long. Upstream's default: five minutes. */
  readonly intervalMs: number;
  /** At most about this many revisions are kept, however young. */
  readonly revisionsMax: number;
}

export const DEFAULT_COMPACTION: CompactionPolicy = { intervalMs: 5 * 60_000, revisionsMax: 500_000 };

/** How many times per interval the number of kept revisions is looked at. */
const LOOKS_PER_INTERVAL = 10;

export const COMPACTION_KEY = `${bookkeepingPrefix("compaction")}state`;

export function startCompaction(
  store: Store,
  context: { readonly clock: Clock; readonly log: Logger },
  policy: CompactionPolicy = DEFAULT_COMPACTION,
): Running {
  const abort = new AbortController();
  const running = run(store, context, policy, abort.signal);
  return {
    stop: async () => {
      abort.abort();
      await running;
    },
  };
}

async function run(
  store: Store,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  policy: CompactionPolicy,
  signal: AbortSignal,
): Promise<void> {
  let seen: number | undefined;
  for (let look = 0; !signal.aborted; look++) {
    try {
      if (look % LOOKS_PER_INTERVAL === 0) seen = await compactByAge(store, seen);
      else await compactByCount(store, policy.revisionsMax);
    } catch (error) {
      if (isStoreError(error, "Closed")) return;
      log.warn("Cannot compact the store, will try again", { part: "compaction", error });
    }
    await clock.sleep(policy.intervalMs / LOOKS_PER_INTERVAL, signal).catch(() => undefined);
  }
}

/** One turn. `seen`: the revision of the key one interval ago. Returns it as it is now, for the next turn. */
export async function compactByAge(store: Store, seen: number | undefined): Promise<number | undefined> {
  const newest = await store.currentRevision();
  const note = await store.get(COMPACTION_KEY);
  if (note !== undefined && note.revision !== seen) return note.revision; // Somebody else had the last turn, or this is our first look.
  if (note !== undefined && note.revision === newest) {
    // No write for an interval, so all history before the newest revision is old enough. An idle cluster stays free of writes.
    await store.compact(newest);
    return seen;
  }

  const precondition = note === undefined ? ({ is: "absent" } as const) : ({ is: "at", revision: note.revision } as const);
  const value = bytesValue(new TextEncoder().encode(String(newest)));
  const result = await store.commit([{ type: "put", key: COMPACTION_KEY, value, precondition }]);
  if (!result.committed) return result.failed[0]?.found?.revision;
  if (note !== undefined) await store.compact(notedRevision(note));
  return result.revision;
}

export async function compactByCount(store: Store, revisionsMax: number): Promise<void> {
  const { revision, compactedRevision } = await store.statistics();
  if (revision - compactedRevision > revisionsMax) await store.compact(revision - revisionsMax);
}

function notedRevision(note: Entry): number {
  const revision = Number(new TextDecoder().decode(note.value.bytes()));
  return Number.isSafeInteger(revision) && revision > 0 ? Math.min(revision, note.revision) : 1;
}
