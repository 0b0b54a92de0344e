/**
 * Compaction policy: history is kept for one interval and little longer, and never more than a number of revisions. The drivers' `compact`
 * does the work.
 *
 * Several API servers on one etcd coordinate by compare-and-swap on one key, as upstream does: the one that finds the key unchanged since
 * the last round writes the newest revision there, before those of the earlier rounds, and compacts to the revision written one interval
 * ago. One that loses the race retries in the next round. Clocks of different machines are never compared.
 */
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Entry, Store } from "./store.ts";
import type { Running } from "./expiry.ts";
import { bookkeepingPrefix } from "./key.ts";
import { isStoreError } from "./store-error.ts";
import { bytesValue } from "./value.ts";

export interface CompactionPolicy {
  /** Minimum retention of history; at most a fifth longer. Upstream's default: five minutes (and up to twice that). */
  readonly intervalMs: number;
  /** Maximum number of kept revisions, approximately, however recent. */
  readonly revisionsMax: number;
}

export const DEFAULT_COMPACTION: CompactionPolicy = { intervalMs: 5 * 60_000, revisionsMax: 500_000 };

/** Checks of the number of kept revisions per interval. */
const CHECKS_PER_INTERVAL = 10;

/**
 * Rounds per interval. More rounds expire history, and the continue tokens that depend on it, closer to the interval; each writes one key
 * unless the store is idle.
 */
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
      log.warn("Cannot compact the store; retrying", { part: "compaction", error });
    }
    await clock.sleep(policy.intervalMs / CHECKS_PER_INTERVAL, signal).catch(() => undefined);
  }
}

/** State passed from one round to the next. */
export interface Turn {
  /** Revision of the key. */
  readonly revision: number;
  /** Rounds without a write to the store. */
  readonly idleTurns: number;
}

/** One round. `last` is the result of the previous one; `turns` of them are one interval. */
export async function compactByAge(store: Store, last: Turn | undefined, turns: number): Promise<Turn | undefined> {
  const newest = await store.currentRevision();
  const note = await store.get(COMPACTION_KEY);
  // Another API server did the last round, or this is our first.
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

/** Newest first. A value written by another version may contain one revision only. */
function notedRevisions(note: Entry): readonly number[] {
  const revisions = new TextDecoder().decode(note.value.bytes()).split(" ").map(Number);
  return revisions.every((revision) => Number.isSafeInteger(revision) && revision > 0 && revision <= note.revision) ? revisions : [];
}
