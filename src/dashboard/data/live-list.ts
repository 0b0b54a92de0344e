/**
 * A list that is kept current by a watch. It is read in pages, so that the first items are there at once, whatever their number; changes of
 * the watch are collected and applied in batches. A watch that ends is resumed; if its revision is too old, the list is read again while
 * the old items stay. Not here: what an item is (live-table.ts, live-objects.ts).
 */
import { isReason, type StatusError } from "../../api/machinery/status-error.ts";
import { errorOfStatus } from "../../api/machinery/wire/status-response.ts";
import type { JsonObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { ClusterApi } from "./cluster-api.ts";
import { lineBatches } from "./lines.ts";
import { retryDelayMs } from "./retry.ts";

export interface LiveState<Item> {
  readonly items: ReadonlyMap<string, Item>;
  /** True once all pages have been read. */
  readonly isComplete: boolean;
  /** True if there are more than `itemsMax`: the others are not read, and changes are not watched. */
  readonly isTruncated: boolean;
  /** Why the items are not current. */
  readonly error?: StatusError;
}

/** How the server sends the items. */
export interface LiveFormat<Page, Change, Item> {
  readonly accept: string;
  itemsOf(page: Page): Iterable<readonly [string, Item]>;
  /** Undefined: a bookmark without an item. */
  itemOf(change: Change): readonly [string, Item] | undefined;
  revisionOf(change: Change): string | undefined;
}

export interface LiveOptions<Item> {
  readonly api: ClusterApi;
  readonly clock: Clock;
  /** The path of the list, without a query. */
  readonly path: string;
  /** Query parameters besides those of paging: labelSelector, fieldSelector. */
  readonly query?: Readonly<Record<string, string>>;
  /** Default: no limit. */
  readonly itemsMax?: number;
  readonly signal: AbortSignal;
  changed(state: LiveState<Item>): void;
}

interface ListPage {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
}

type WatchEvent<Change> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; readonly object: Change }
  | { readonly type: "ERROR"; readonly object: JsonObject };

/** Fills a screen: read and shown in well under a second, also on a large cluster. */
const FIRST_PAGE = 200;
/** About 3 MB of JSON: parsing it stays below 50 ms, so that the page remains responsive. */
const PAGE = 2_000;
/** Changes are shown this often: a person cannot read faster. */
const BATCH_MS = 250;

/** Runs until the signal is aborted. */
export async function runLiveList<Page extends ListPage, Change, Item>(
  format: LiveFormat<Page, Change, Item>,
  options: LiveOptions<Item>,
): Promise<void> {
  const { signal, clock } = options;
  const list = new LiveList(format, options);
  while (!signal.aborted) {
    let retryMs = retryDelayMs();
    try {
      const revision = await list.read();
      if (revision === undefined) return;
      await list.watchFrom(revision);
    } catch (error) {
      if (signal.aborted) return;
      list.failed(error as StatusError);
      if (isReason(error, "Expired")) continue;
      retryMs = retryDelayMs(error);
    }
    await clock.sleep(retryMs, signal).catch(() => undefined);
  }
}

class LiveList<Page extends ListPage, Change, Item> {
  readonly #format: LiveFormat<Page, Change, Item>;
  readonly #options: LiveOptions<Item>;
  #items = new Map<string, Item>();
  #isComplete = false;
  #isTruncated = false;
  #isScheduled = false;

  constructor(format: LiveFormat<Page, Change, Item>, options: LiveOptions<Item>) {
    this.#format = format;
    this.#options = options;
  }

  /** Returns the revision of the list. Undefined: it is truncated. */
  async read(): Promise<string | undefined> {
    const { api, signal, itemsMax = Infinity } = this.#options;
    const fresh = new Map<string, Item>();
    let next: string | undefined;
    for (let limit = FIRST_PAGE; ; limit = PAGE) {
      const query = { limit: String(limit), ...(next === undefined ? {} : { continue: next }) };
      const page = await api.json<Page>({ path: this.#path(query), accept: this.#format.accept, signal });
      for (const [key, item] of this.#format.itemsOf(page)) fresh.set(key, item);
      next = page.metadata?.continue;
      const isLast = next === undefined || next === "";
      // Old items stay until as many new ones have been read.
      if (isLast || this.#items.size <= fresh.size) this.#items = fresh;
      this.#isComplete = isLast;
      this.#isTruncated = !isLast && fresh.size >= itemsMax;
      this.#show();
      if (this.#isTruncated) return undefined;
      if (isLast) return page.metadata?.resourceVersion ?? "";
    }
  }

  /** Rejects with the error of a watch that the server rejects. */
  async watchFrom(revision: string): Promise<void> {
    const { signal, clock } = this.#options;
    for (let since = revision; !signal.aborted;) {
      const last = await this.#watchOnce(since);
      // A watch that ended without an event is not repeated at once.
      if (last === since) await clock.sleep(retryDelayMs(), signal).catch(() => undefined);
      since = last;
    }
  }

  failed(error: StatusError): void {
    this.#options.changed({ ...this.#state(), error });
  }

  /** Returns the last revision seen. */
  async #watchOnce(since: string): Promise<string> {
    const { api, signal } = this.#options;
    const path = this.#path({ watch: "1", allowWatchBookmarks: "true", resourceVersion: since });
    const response = await api.send({ path, accept: this.#format.accept, signal });
    let last = since;
    for await (const lines of lineBatches(response.pieces())) {
      for (const line of lines) last = this.#apply(JSON.parse(line) as WatchEvent<Change>) ?? last;
      this.#schedule();
    }
    return last;
  }

  /** Returns the event's revision. */
  #apply(event: WatchEvent<Change>): string | undefined {
    if (event.type === "ERROR") throw errorOfStatus(event.object);
    const { type, object } = event;
    const found = type === "BOOKMARK" ? undefined : this.#format.itemOf(object);
    if (found !== undefined && type === "DELETED") this.#items.delete(found[0]);
    else if (found !== undefined) this.#items.set(found[0], found[1]);
    return this.#format.revisionOf(object);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const { clock, signal } = this.#options;
    const show = () => {
      this.#isScheduled = false;
      this.#show();
    };
    clock.sleep(BATCH_MS, signal).then(show, () => undefined);
  }

  #show(): void {
    this.#options.changed(this.#state());
  }

  #state(): LiveState<Item> {
    return { items: this.#items, isComplete: this.#isComplete, isTruncated: this.#isTruncated };
  }

  #path(query: Readonly<Record<string, string>>): string {
    const { path, query: more = {} } = this.#options;
    return `${path}?${new URLSearchParams({ ...more, ...query }).toString()}`;
  }
}
