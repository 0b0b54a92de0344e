/**
 * All watches of a server: ends them after their timeout and when the server stops, and counts them. Not here: their bookmarks
 * (watch-bookmarks.ts).
 */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Endpoint } from "../framework/endpoints.ts";
import type { ApiRequest } from "../framework/request.ts";
import type { ObjectWatch } from "./object-watch.ts";
import { sendBookmarks } from "./watch-bookmarks.ts";
import type { WatchReceiver } from "../framework/watch.ts";

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
    void sendBookmarks(clock, this.#watches, this.#stop.signal);
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
}
