/**
 * Decides when history is compacted: it is kept for one interval and little longer, and never more than a number of revisions. The drivers'
 * `compact` does the work.
 *
 * Several API servers on one etcd take turns by compare-and-swap on one key, as upstream does: the one that finds the key as it was a turn ago
 * writes the newest revision there, before those of the turns before it, and compacts to the revision that was written an interval ago. One that
 * loses the race tries again a turn later. No clock is compared with the clock of another machine.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Entry, Store } from "./store.ts";
import type { Running } from "./expiry.ts";
import { bookkeepingPrefix } from "./key.ts";
import { isStoreError } from "./store-error.ts";
import { bytesValue } from "./value.ts";

export interface CompactionPolicy {
  /** History is kept at least this long and at most a fifth longer. Upstream's default: five minutes (and up to twice that). */
  readonly intervalMs: number;
  /** At most about this many revisions are kept, however young. */
  readonly revisionsMax: number;
}

export const DEFAULT_COMPACTION: CompactionPolicy = { intervalMs: 5 * 60_000, revisionsMax: 500_000 };

/** How many times per interval the number of kept revisions is checked. */
const CHECKS_PER_INTERVAL = 10;

/** More turns expire history, and the continue tokens that depend on it, closer to the interval; each writes one key unless the store is idle. */
const TURNS_PER_INTERVAL = 5;

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
  let last: Turn | undefined;
  for (let check = 0; !signal.aborted; check++) {
    try {
      if (check % (CHECKS_PER_INTERVAL / TURNS_PER_INTERVAL) === 0) last = await compactByAge(store, last, TURNS_PER_INTERVAL);
      else await compactByCount(store, policy.revisionsMax);
    } catch (error) {
      if (isStoreError(error, "Closed")) return;
      log.warn("Cannot compact the store, will try again", { part: "compaction", error });
    }
    await clock.sleep(policy.intervalMs / CHECKS_PER_INTERVAL, signal).catch(() => undefined);
  }
}

/** What a turn leaves for the next one. */
export interface Turn {
  /** Revision of the key. */
  readonly revision: number;
  /** Turns since which nothing was written to the store. */
  readonly idleTurns: number;
}

/** One turn. `last` is the result of the turn before; `turns` of them are one interval. */
export async function compactByAge(store: Store, last: Turn | undefined, turns: number): Promise<Turn | undefined> {
  const newest = await store.currentRevision();
  const note = await store.get(COMPACTION_KEY);
  // Another API server had the last turn, or this is our first look.
  if (note !== undefined && note.revision !== last?.revision) return { revision: note.revision, idleTurns: 0 };
  if (note !== undefined && last !== undefined && note.revision === newest) return idleTurn(store, last, turns);

  const precondition = note === undefined ? ({ is: "absent" } as const) : ({ is: "at", revision: note.revision } as const);
  const noted = note === undefined ? [] : notedRevisions(note);
  const value = bytesValue(new TextEncoder().encode([newest, ...noted].slice(0, turns).join(" ")));
  const result = await store.commit([{ type: "put", key: COMPACTION_KEY, value, precondition }]);
  const revision = result.committed ? result.revision : result.failed[0]?.found?.revision;
  const intervalAgo = noted[turns - 1];
  if (result.committed && intervalAgo !== undefined) await store.compact(intervalAgo);
  return revision === undefined ? undefined : { revision, idleTurns: 0 };
}

/** After an interval without a write all history before the newest revision is old enough. An idle store stays free of writes. */
async function idleTurn(store: Store, { revision, idleTurns }: Turn, turns: number): Promise<Turn> {
  if (idleTurns + 1 === turns) await store.compact(revision);
  return { revision, idleTurns: Math.min(idleTurns + 1, turns) };
}

export async function compactByCount(store: Store, revisionsMax: number): Promise<void> {
  const { revision, compactedRevision } = await store.statistics();
  if (revision - compactedRevision > revisionsMax) await store.compact(revision - revisionsMax);
}

/** Newest first. A value that another version wrote may hold one revision only. */
function notedRevisions(note: Entry): readonly number[] {
  const revisions = new TextDecoder().decode(note.value.bytes()).split(" ").map(Number);
  return revisions.every((revision) => Number.isSafeInteger(revision) && revision > 0 && revision <= note.revision) ? revisions : [];
}
