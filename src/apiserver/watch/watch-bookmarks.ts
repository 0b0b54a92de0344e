/**
 * Watch bookmarks: which watches receive one, when, and with which resourceVersion. One query per resource serves all of its watches. The
 * bookmark that ends the initial events is part of the watch (object-watch.ts).
 */
import type { Clock } from "../../base/clock.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ObjectCache } from "../framework/storage/storage.ts";
import type { ObjectWatch } from "./object-watch.ts";

/** Often enough that a watch without matching events can be resumed after a compaction; upstream's interval. */
const BOOKMARK_INTERVAL_MS = 60_000;

/** The running watches, which change meanwhile. */
type RunningWatches = ReadonlyMap<ObjectWatch, { readonly endpoint: Endpoint }>;

/** Resolves when the signal is aborted. */
export async function sendBookmarks(clock: Clock, running: RunningWatches, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await clock.sleep(BOOKMARK_INTERVAL_MS, signal);
    } catch {
      return;
    }
    // In parallel: a resource whose store does not respond must not delay the others.
    for (const [cache, watches] of byCache(running)) void sendOfCache(cache, watches);
  }
}

/** The watches that requested bookmarks and have sent their initial events. */
function byCache(running: RunningWatches): Map<ObjectCache, ObjectWatch[]> {
  const groups = new Map<ObjectCache, ObjectWatch[]>();
  for (const [watch, { endpoint }] of running) {
    if (!watch.wantsBookmarks) continue;
    const { cache } = endpoint.storage;
    const group = groups.get(cache);
    if (group === undefined) groups.set(cache, [watch]);
    else group.push(watch);
  }
  return groups;
}

/** If the query fails, no bookmarks are sent this time. */
async function sendOfCache(cache: ObjectCache, watches: readonly ObjectWatch[]): Promise<void> {
  const revision = await cache.freshRevision().catch(() => undefined);
  if (revision !== undefined) for (const watch of watches) watch.bookmark(revision);
}
