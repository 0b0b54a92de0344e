/**
 * The recorded causes, kept current by a watch: a limited number, oldest first. A watch that ends continues after the last record; if the
 * server restarted without its record, the list is read again.
 */
import { StatusError } from "../../../api/machinery/status-error.ts";
import { errorOfStatus } from "../../../api/machinery/wire/status-response.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Clock } from "../../../base/clock.ts";
import { CAUSES_PATH, type CauseEvent, type CauseItem, type CauseList } from "../../../explain/explain-api.ts";
import { mayGet } from "../access.ts";
import type { ClusterApi } from "../cluster-api.ts";
import { lineBatches } from "../lines.ts";
import { retryDelayMs } from "../retry.ts";

export interface CauseFeedState {
  readonly items: readonly CauseItem[];
  /** Why the items are not current. */
  readonly error?: StatusError;
}

export interface CauseFeedOptions {
  readonly api: ClusterApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  changed(state: CauseFeedState): void;
}

/** As many as the server keeps. */
export const KEPT_MAX = 10_000;
/** Records are shown this often. */
const BATCH_MS = 100;

/** Runs until the signal is aborted. */
export async function runCauseFeed(options: CauseFeedOptions): Promise<void> {
  const { signal, clock } = options;
  const feed = new CauseFeed(options);
  while (!signal.aborted) {
    let retryMs = retryDelayMs();
    try {
      await feed.read();
      await feed.watch();
    } catch (error) {
      if (signal.aborted) return;
      feed.failed(error as StatusError);
      retryMs = retryDelayMs(error);
    }
    await clock.sleep(retryMs, signal).catch(() => undefined);
  }
}

class CauseFeed {
  readonly #options: CauseFeedOptions;
  #items: readonly CauseItem[] = [];
  #fresh: CauseItem[] = [];
  #newest = 0;
  #isScheduled = false;

  constructor(options: CauseFeedOptions) {
    this.#options = options;
  }

  async read(): Promise<void> {
    const { api, signal, changed } = this.#options;
    // No request is made that is refused. If the review fails, that of the causes says why.
    if (!(await mayGet(api, CAUSES_PATH).catch(() => true))) throw new StatusError("Forbidden", `You may not get the path ${CAUSES_PATH}.`);
    const { items, metadata } = await api.get<CauseList>(CAUSES_PATH, signal);
    this.#items = items.slice(-KEPT_MAX);
    this.#fresh = [];
    this.#newest = metadata.newest;
    changed({ items: this.#items });
  }

  /** Resolves when the server ends the watch. */
  async watch(): Promise<void> {
    const { api, signal } = this.#options;
    // 0 would be "from now on", and so would lose what is recorded between the requests.
    const after = this.#newest === 0 ? "" : `&after=${this.#newest}`;
    const response = await api.send({ path: `${CAUSES_PATH}?watch=true${after}`, signal });
    for await (const lines of lineBatches(response.pieces())) {
      for (const line of lines) this.#add(JSON.parse(line) as CauseEvent);
      this.#schedule();
    }
  }

  failed(error: StatusError): void {
    this.#options.changed({ items: this.#items, error });
  }

  #add(event: CauseEvent): void {
    if (event.type === "ERROR") throw errorOfStatus(event.object as JsonObject);
    this.#fresh.push(event.object);
    this.#newest = Math.max(this.#newest, event.object.id);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { clock, signal, changed } = this.#options;
    const show = () => {
      this.#isScheduled = false;
      this.#items = [...this.#items, ...this.#fresh].slice(-KEPT_MAX);
      this.#fresh = [];
      changed({ items: this.#items });
    };
    clock.sleep(BATCH_MS, signal).then(show, () => undefined);
  }
}
