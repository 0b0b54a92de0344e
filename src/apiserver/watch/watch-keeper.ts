/**
 * All watches of a server: gives them their bookmarks, ends them when their time is over and when the server stops, and counts them.
 */
import type { Clock } from "../../base/clock.ts";
import type { Endpoint } from "../endpoints.ts";
import type { ObjectWatch } from "./object-watch.ts";
import type { WatchReceiver } from "./watch-start.ts";

/** Often enough that a watch which nothing concerned can be resumed after a compaction; as often as upstream. */
const BOOKMARK_INTERVAL_MS = 60_000;

export interface WatchCounts {
  started(endpoint: Endpoint): void;
  ended(endpoint: Endpoint): void;
  event(endpoint: Endpoint): void;
}

interface Kept {
  readonly endpoint: Endpoint;
  readonly timer: AbortController;
}

export class WatchKeeper {
  readonly #clock: Clock;
  readonly #counts: WatchCounts;
  readonly #watches = new Map<ObjectWatch, Kept>();
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
  counted(endpoint: Endpoint, receiver: WatchReceiver): WatchReceiver {
    const counts = this.#counts;
    return {
      event(event) {
        counts.event(endpoint);
        return receiver.event(event);
      },
      ended() {
        counts.ended(endpoint);
        receiver.ended();
      },
    };
  }

  keep(watch: ObjectWatch, { endpoint, timeoutMs }: { readonly endpoint: Endpoint; readonly timeoutMs: number }): void {
    const timer = new AbortController();
    this.#watches.set(watch, { endpoint, timer });
    this.#counts.started(endpoint);
    watch.onOver(() => {
      timer.abort();
      this.#watches.delete(watch);
    });
    // Not before the caller has what it needs to take the first event.
    this.#clock.soon(() => {
      if (this.#isStopping) watch.stop();
      else void watch.begin();
    });
    void this.#clock.sleep(timeoutMs, timer.signal).then(
      () => watch.stop(),
      () => undefined, // It ended before.
    );
  }

  /** Ends all watches cleanly; their clients come back to whoever serves then. */
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
      for (const [watch, { endpoint }] of this.#watches) {
        if (!watch.wantsBookmarks) continue;
        const revision = await endpoint.storage.cache.freshRevision();
        if (revision !== undefined) watch.bookmark(revision);
      }
    }
  }
}
