/** All watches of a server: sends their bookmarks, ends them after their timeout and when the server stops, and counts them. */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ObjectCache } from "../framework/storage/storage.ts";
import type { ObjectWatch } from "./object-watch.ts";
import type { WatchReceiver } from "../framework/watch.ts";

/** Often enough that a watch without matching events can be resumed after a compaction; upstream's interval. */
const BOOKMARK_INTERVAL_MS = 60_000;

export interface WatchCounts {
  started(endpoint: Endpoint, request: ApiRequest): void;
  ended(endpoint: Endpoint, request: ApiRequest): void;
  event(endpoint: Endpoint): void;
}

export interface WatchedRequest {
  readonly endpoint: Endpoint;
  readonly request: ApiRequest;
}

interface RegisteredWatch {
  readonly endpoint: Endpoint;
  readonly timer: AbortController;
}

export class WatchRegistry {
  readonly #clock: Clock;
  readonly #counts: WatchCounts;
  readonly #watches = new Map<ObjectWatch, RegisteredWatch>();
  readonly #stop = new AbortController();
  #isStopping = false;

  constructor(clock: Clock, counts: WatchCounts) {
    this.#clock = clock;
    this.#counts = counts;
    void this.#sendBookmarks();
  }

  get size(): number {
    return this.#watches.size;
  }

  /** The receiver, with its events and its end counted. */
  counted({ endpoint, request }: WatchedRequest, receiver: WatchReceiver): WatchReceiver {
    const counts = this.#counts;
    return {
      event(event) {
        counts.event(endpoint);
        return receiver.event(event);
      },
      ended() {
        counts.ended(endpoint, request);
        receiver.ended();
      },
    };
  }

  keep(watch: ObjectWatch, { endpoint, request, timeoutMs }: WatchedRequest & { readonly timeoutMs: number }): void {
    const timer = new AbortController();
    this.#watches.set(watch, { endpoint, timer });
    this.#counts.started(endpoint, request);
    watch.onEnded(() => {
      timer.abort(NOT_NEEDED);
      this.#watches.delete(watch);
    });
    // Not before the caller can take the first event.
    if (this.#isStopping || !watch.beginIfUpToDate()) {
      this.#clock.soon(() => {
        if (this.#isStopping) watch.stop();
        else void watch.begin();
      });
    }
    void this.#clock.sleep(timeoutMs, timer.signal).then(
      () => watch.stop(),
      () => undefined, // It has already ended.
    );
  }

  /** Ends all watches cleanly; their clients reconnect to another server. */
  close(): void {
    this.#isStopping = true;
    this.#stop.abort();
    for (const watch of [...this.#watches.keys()]) watch.stop();
  }

  async #sendBookmarks(): Promise<void> {
    for (;;) {
      try {
        await this.#clock.sleep(BOOKMARK_INTERVAL_MS, this.#stop.signal);
      } catch {
        return;
      }
      // In parallel: a resource whose store does not respond must not delay the others.
      for (const [cache, watches] of this.#byCache()) void sendBookmarks(cache, watches);
    }
  }

  #byCache(): Map<ObjectCache, ObjectWatch[]> {
    const groups = new Map<ObjectCache, ObjectWatch[]>();
    for (const [watch, { endpoint }] of this.#watches) {
      if (!watch.wantsBookmarks) continue;
      const { cache } = endpoint.storage;
      const group = groups.get(cache);
      if (group === undefined) groups.set(cache, [watch]);
      else group.push(watch);
    }
    return groups;
  }
}

/** One query for all watches of a resource. If it fails, no bookmarks are sent this time. */
async function sendBookmarks(cache: ObjectCache, watches: readonly ObjectWatch[]): Promise<void> {
  const revision = await cache.freshRevision().catch(() => undefined);
  if (revision !== undefined) for (const watch of watches) watch.bookmark(revision);
}
