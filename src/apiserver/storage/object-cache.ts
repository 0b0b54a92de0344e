/**
 * All objects of one resource, in memory and in order, fed by one watch of the store; watchers subscribe here. On stores that this process
 * owns (memory, embedded) it receives a write before the write is acknowledged, so reading from it is always exact. On a shared store
 * (etcd) a consistent read first queries the newest revision and waits until the cache has reached it; where the store does not report that
 * (`capabilities.progress` is false), consistent reads go to the store itself.
 *
 * Loaded on first use. If the feeding watch breaks, the watchers are ended (they list again), and the cache is reloaded. A closed cache
 * receives no more changes: requests that still use it read the store itself, and watches that begin end at once.
 */
import { exponentialDelayMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { SortedMap } from "../../base/sorted-map.ts";
import { StatusError } from "../../api/machinery/status-error.ts";
import { orderAfterPrefix, orderOf } from "../../store/key.ts";
import type { Change, Store, Watch, WatchEnd } from "../../store/store.ts";
import { objectName } from "../framework/storage/object-key.ts";
import { translated } from "../framework/storage/store-failure.ts";
import { SharedObject, type ObjectFamily } from "./stored-object.ts";
import { WatchIndex, type FieldReaders } from "./watch-index.ts";
import type { CacheListener, ObjectCache, ObjectChange, Snapshot, StoredObject } from "../framework/storage/storage.ts";

/** Entries read at a time while loading, so that a large resource does not block the event loop (or exceed etcd's message limit). */
const LOAD_PAGE = 10_000;

/** A lagging member of etcd reports an older revision than required; it is queried again after this delay. */
const PROGRESS_RETRY_MS = 50;

/** Backoff between attempts to reload a resource whose watch broke: short at first, and short enough to notice when etcd is back. */
const RELOAD_DELAY = { minMs: 100, maxMs: 5_000 };

export interface ObjectCacheOptions {
  readonly store: Store;
  /** The resource's prefix (api/machinery/storage-prefix.ts). */
  readonly prefix: string;
  readonly family: ObjectFamily;
  readonly indexed: FieldReaders;
  readonly clock: Clock;
  readonly log: Logger;
}

export class WatchedCache implements ObjectCache {
  readonly #options: ObjectCacheOptions;
  readonly #listeners: WatchIndex;
  readonly #indexes = new Map<string, FieldIndex>();
  #objects: Snapshot = new SortedMap();
  /** The revision of the newest change of this resource, or of the load. */
  #lastChange = 0;
  /** Everything up to this revision is known to have been received; at least #lastChange. */
  #synced = 0;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #isClosed = false;
  #feed: Watch | undefined;
  #waiters: { readonly revision: number; resolve(): void }[] = [];

  constructor(options: ObjectCacheOptions) {
    this.#options = options;
    this.#listeners = new WatchIndex(options.indexed);
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get lastChange(): number {
    return this.#lastChange;
  }

  get watchers(): number {
    return this.#listeners.size;
  }

  get size(): number {
    return this.#objects.size;
  }

  /** Resolves when the cache can be read. Rejects with a StatusError if the store cannot be read. */
  load(): Promise<void> {
    this.#loading ??= translated(() => this.#load()).catch((error: unknown) => {
      this.#loading = undefined;
      throw error;
    });
    return this.#loading;
  }

  /** The newest known revision, at least as new as every write acknowledged before the call; undefined: read the store itself. */
  async freshRevision(): Promise<number | undefined> {
    const { store } = this.#options;
    const revision = await translated(() => store.currentRevision());
    if (this.#isClosed) return undefined;
    // A store that this process owns delivers every change before it acknowledges it.
    if (!store.capabilities.shared) return Math.max(revision, this.#lastChange);
    if (this.#synced >= revision) return this.#synced;
    if (!store.capabilities.progress) return undefined;
    await this.#untilReached(revision);
    return this.#isClosed ? undefined : this.#synced;
  }

  /** The revision that the cache has certainly reached, without a query. */
  knownRevision(): number {
    return this.#synced;
  }

  get(key: string): StoredObject | undefined {
    return this.#objects.get(orderOf(key));
  }

  /** The present state; later changes do not show in it. Costs nothing. */
  snapshot(): Snapshot {
    return this.#objects.clone();
  }

  /** Objects whose indexed field has this value, in order; undefined if there is no such index. */
  withField(path: string, value: string): Iterable<readonly [string, StoredObject]> | undefined {
    const read = Object.hasOwn(this.#options.indexed, path) ? this.#options.indexed[path] : undefined;
    if (read === undefined) return undefined;
    let index = this.#indexes.get(path);
    if (index === undefined) {
      index = new FieldIndex(read);
      for (const [order, object] of this.#objects.entries()) index.put(order, object, undefined);
      this.#indexes.set(path, index);
    }
    return index.get(value);
  }

  /** The listener of a closed cache is ended, in a microtask: it would otherwise wait for changes that never come. */
  join(listener: CacheListener): void {
    if (this.#isClosed) void Promise.resolve().then(() => listener.ended());
    else this.#listeners.add(listener);
  }

  leave(listener: CacheListener): void {
    this.#listeners.remove(listener);
  }

  /** Ends the listeners, too: no more changes follow. Waiting readers read the store. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#feed?.close();
    this.#endListeners();
    for (const { resolve } of this.#waiters.splice(0)) resolve();
  }

  async #load(): Promise<void> {
    const { store, prefix, family } = this.#options;
    const objects: Snapshot = new SortedMap();
    let revision: number | undefined;
    let startAfter: string | undefined;
    for (;;) {
      const page = await store.list(prefix, {
        limit: LOAD_PAGE,
        countRemaining: false,
        ...(revision === undefined ? {} : { revision }),
        ...(startAfter === undefined ? {} : { startAfter }),
      });
      for (const entry of page.entries) objects.set(orderOf(entry.key), SharedObject.of(family, entry));
      revision = page.revision;
      startAfter = page.entries.at(-1)?.key;
      if (page.remaining === 0) break;
    }
    // Listeners that joined since the watch broke would miss the changes in between.
    this.#endListeners();
    this.#objects = objects;
    this.#indexes.clear();
    this.#lastChange = revision;
    if (!this.#isClosed) this.#follow(revision);
    this.#reach(revision);
    // A write between the list and the watch is still to be delivered; readers that could know of it must wait for it.
    const newest = await store.currentRevision();
    if (newest > revision && store.capabilities.progress) await this.#untilReached(newest);
    this.#isLoaded = true;
  }

  #follow(after: number): void {
    const { store, prefix } = this.#options;
    this.#feed = store.watch(
      prefix,
      { after },
      {
        changes: (changes) => {
          for (const change of changes) this.#take(change);
        },
        progress: (revision) => {
          this.#reach(revision);
          if (this.#waiters.length > 0) void this.#requestProgressAgain();
        },
        ended: (end) => this.#watchEnded(end),
      },
    );
  }

  #take(change: Change): void {
    const { prefix, family } = this.#options;
    const order = orderOf(change.key);
    // Keeps the cache's copy of the previous object; the store's would be a second one, possibly unparsed.
    const held = this.#objects.get(order);
    const previous = change.previous === undefined ? undefined : (held ?? SharedObject.of(family, change.previous));
    const object = change.type === "put" ? SharedObject.of(family, change) : (previous as StoredObject).at(change.revision);
    if (change.type === "put") this.#objects.set(order, object);
    else this.#objects.delete(order);
    for (const index of this.#indexes.values()) index.put(order, change.type === "put" ? object : undefined, previous);
    // The next write starts from the new version. Kept for 2,048 more writes, the parsed fields of old ones would become old garbage.
    if (previous !== undefined) family.managed.delete(previous);
    this.#lastChange = change.revision;
    const { namespace, name } = objectName(prefix, change.key);
    const delivered: ObjectChange = { type: change.type, namespace, name, revision: change.revision, object, previous, shared: new Map() };
    this.#listeners.notify(delivered);
    this.#reach(change.revision);
  }

  async #untilReached(revision: number): Promise<void> {
    if (this.#synced >= revision || this.#isClosed) return;
    this.#feed?.requestProgress();
    await new Promise<void>((resolve) => this.#waiters.push({ revision, resolve }));
  }

  async #requestProgressAgain(): Promise<void> {
    await this.#options.clock.sleep(PROGRESS_RETRY_MS);
    if (this.#waiters.length > 0) this.#feed?.requestProgress();
  }

  #reach(revision: number): void {
    if (revision <= this.#synced) return;
    this.#synced = revision;
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision);
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision);
    for (const { resolve } of due) resolve();
  }

  #watchEnded(end: WatchEnd): void {
    if (this.#isClosed) return;
    const { log, prefix } = this.#options;
    log.warn("The watch of a resource ended; listing the resource again", {
      prefix,
      reason: end.reason,
      ...("error" in end ? { error: end.error } : {}),
    });
    this.#isLoaded = false;
    this.#endListeners();
    this.#loading = this.#reload();
    this.#loading.catch(() => undefined); // Closed: rejects the waiting readers.
  }

  #endListeners(): void {
    for (const listener of this.#listeners.all()) (listener as CacheListener).ended();
  }

  /** Retries until it succeeds or the cache is closed; requests that need it wait. */
  async #reload(): Promise<void> {
    const { clock, log, prefix } = this.#options;
    for (let attempt = 0; !this.#isClosed; attempt++) {
      try {
        await this.#load();
        return;
      } catch (error) {
        if (this.#isClosed) break;
        log.warn("Listing a resource failed; retrying", { prefix, error });
        await clock.sleep(exponentialDelayMs(RELOAD_DELAY, attempt));
      }
    }
    throw closedCache(prefix);
  }
}

/** Index of objects by the value of one field. */
class FieldIndex {
  readonly #read: FieldReaders[string];
  readonly #byValue = new Map<string, SortedMap<string, StoredObject>>();

  constructor(read: FieldReaders[string]) {
    this.#read = read;
  }

  get(value: string): Iterable<readonly [string, StoredObject]> {
    return this.#byValue.get(value)?.entries() ?? [];
  }

  put(order: string, object: StoredObject | undefined, previous: StoredObject | undefined): void {
    const before = previous === undefined ? undefined : this.#read(previous.object);
    const now = object === undefined ? undefined : this.#read(object.object);
    if (before !== undefined && before !== now) this.#drop(before, order);
    if (object === undefined || now === undefined) return;
    let objects = this.#byValue.get(now);
    if (objects === undefined) this.#byValue.set(now, (objects = new SortedMap()));
    objects.set(order, object);
  }

  #drop(value: string, order: string): void {
    const objects = this.#byValue.get(value);
    if (objects?.delete(order) === true && objects.size === 0) this.#byValue.delete(value);
  }
}

/** The server stops, or the resource is no longer served. */
function closedCache(prefix: string): StatusError {
  return new StatusError("ServiceUnavailable", `Cannot read ${prefix}: it is no longer served`, { details: { retryAfterSeconds: 1 } });
}

/** The range of orders of all keys that begin with `prefix`. */
export function rangeOf(prefix: string): { readonly from: string; readonly before?: string } {
  const before = orderAfterPrefix(prefix);
  return { from: orderOf(prefix), ...(before === undefined ? {} : { before }) };
}
