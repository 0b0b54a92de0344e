/**
 * The watches of a driver that owns its data (memory, embedded). A watch that starts in the past first catches up from the history, a
 * bounded batch per tick, and then joins the live ones; it never receives a change twice and misses none, since it joins in the same tick
 * in which it is found to be up to date.
 *
 * A change costs nothing to watches of other resources or namespaces: watches are indexed by the folder of their prefix (up to its last
 * slash), and only those in the folders of the changed key are visited.
 */
import type { Clock } from "../base/clock.ts";
import type { Change, Watch, WatchEnd, WatchListener } from "./store.ts";
import { checkWatchPrefix, resourcePrefixOf } from "./key.ts";
import { StoreError, isStoreError } from "./store-error.ts";
import { WatchChannel } from "./watch-channel.ts";

/** Revisions that a watch reads per tick while catching up, so that a long history does not block others. */
const REPLAY_REVISIONS_PER_TURN = 1_000;

/** A batch of history: the changes of one prefix, and the revision up to which there are no others. */
export interface HistoryPiece {
  readonly changes: readonly Change[];
  readonly through: number;
}

export interface WatchHubOptions {
  readonly clock: Clock;
  /** The newest visible revision. */
  readonly visibleRevision: () => number;
  /** At most `revisions` revisions of history after `after`. Throws "Compacted" if they are no longer kept. */
  readonly readHistory: (prefix: string, after: number, revisions: number) => HistoryPiece;
}

interface Watcher {
  readonly prefix: string;
  readonly channel: WatchChannel;
  /** All changes up to here were pushed, or are older than requested. */
  position: number;
  live: boolean;
  /** Changes of the current publication; kept here so that publishing allocates only for watchers that receive something. */
  batch: Change[] | undefined;
}

export class WatchHub {
  readonly #options: WatchHubOptions;
  /** By resource prefix, then by folder. */
  readonly #resources = new Map<string, Map<string, Set<Watcher>>>();
  readonly #visibleListeners = new Set<(revision: number) => void>();
  #size = 0;
  #publications: (readonly Change[])[] | undefined;

  constructor(options: WatchHubOptions) {
    this.#options = options;
  }

  /** Open watches. */
  get size(): number {
    return this.#size;
  }

  /** Whether `key` may be watched: an unwatched write need not be made into a change. */
  isWatched(key: string): boolean {
    if (this.#size === 0) return false;
    const resource = resourcePrefixOf(key) ?? "";
    const folders = this.#resources.get(resource);
    if (folders === undefined) return false;
    for (let end = resource.length; end > 0; end = nextFolderEnd(key, end)) if (folders.has(key.slice(0, end))) return true;
    return false;
  }

  watch(prefix: string, after: number, listener: WatchListener): Watch {
    const resource = checkWatchPrefix(prefix);
    if (!Number.isSafeInteger(after) || after < 0) {
      throw new StoreError("Invalid", `Cannot watch ${prefix}: a revision is a whole number, is ${after}`);
    }
    const { clock } = this.#options;
    const watcher: Watcher = {
      prefix,
      channel: new WatchChannel(listener, clock, () => this.#remove(resource, watcher)),
      position: after,
      live: after >= this.#options.visibleRevision(),
      batch: undefined,
    };
    this.#add(resource, watcher);
    if (!watcher.live) clock.soon(() => this.#catchUp(watcher));
    return {
      requestProgress: () => clock.soon(() => this.#reportProgress(watcher)),
      close: () => watcher.channel.end({ reason: "closed" }),
    };
  }

  /** Delivers `changes` (ordered by revision, all visible by now) to the live watches before it returns. */
  publish(changes: readonly Change[]): void {
    // A listener may commit, and so publish: that waits, or later watchers would see it too early.
    if (this.#publications !== undefined) {
      this.#publications.push(changes);
      return;
    }
    this.#publications = [changes];
    try {
      for (let next = this.#publications.shift(); next !== undefined; next = this.#publications.shift()) this.#dispatch(next);
    } finally {
      this.#publications = undefined;
    }
    this.advanced();
  }

  /** Calls the listener when a newer revision is visible and all its changes were delivered. Returns a function that ends it. */
  onVisible(listener: (revision: number) => void): () => void {
    this.#visibleListeners.add(listener);
    return () => void this.#visibleListeners.delete(listener);
  }

  /** A newer revision is visible. During a publication there is more to deliver, and its end reports it. */
  advanced(): void {
    if (this.#publications !== undefined || this.#visibleListeners.size === 0) return;
    const revision = this.#options.visibleRevision();
    for (const listener of this.#visibleListeners) listener(revision);
  }

  endAll(end: WatchEnd): void {
    for (const watcher of this.#all()) watcher.channel.end(end);
  }

  #dispatch(changes: readonly Change[]): void {
    const concerned: Watcher[] = [];
    for (const change of changes) {
      const { key } = change;
      const resource = resourcePrefixOf(key) ?? "";
      const folders = this.#resources.get(resource);
      if (folders === undefined) continue;
      for (let end = resource.length; end > 0; end = nextFolderEnd(key, end)) {
        addToBatches(change, folders.get(key.slice(0, end)) ?? [], concerned);
      }
    }
    for (const watcher of concerned) {
      const batch = watcher.batch as Change[];
      watcher.batch = undefined;
      watcher.channel.push(batch);
    }
  }

  #catchUp(watcher: Watcher): void {
    if (watcher.channel.closed) return;
    let piece: HistoryPiece;
    try {
      piece = this.#options.readHistory(watcher.prefix, watcher.position, REPLAY_REVISIONS_PER_TURN);
    } catch (error) {
      return watcher.channel.end(
        isStoreError(error, "Compacted")
          ? { reason: "compacted", compactedRevision: error.compactedRevision ?? 0 }
          : { reason: "failed", error },
      );
    }
    watcher.position = piece.through;
    watcher.channel.push(piece.changes);
    watcher.channel.onceIdle(() => this.#catchUpOrJoin(watcher));
  }

  /** The listener may have committed during the last batch, so that this is checked now. */
  #catchUpOrJoin(watcher: Watcher): void {
    if (watcher.position >= this.#options.visibleRevision()) watcher.live = true;
    else this.#options.clock.soon(() => this.#catchUp(watcher));
  }

  #reportProgress(watcher: Watcher): void {
    // A watch that catches up, or starts in the future, reports only its position.
    const revision = watcher.live ? this.#options.visibleRevision() : watcher.position;
    if (revision >= watcher.position) watcher.channel.progress(revision);
  }

  #add(resource: string, watcher: Watcher): void {
    const folders = getOrMake(this.#resources, resource, () => new Map<string, Set<Watcher>>());
    getOrMake(folders, folderOf(watcher.prefix), () => new Set<Watcher>()).add(watcher);
    this.#size += 1;
  }

  #remove(resource: string, watcher: Watcher): void {
    const folders = this.#resources.get(resource);
    const folder = folderOf(watcher.prefix);
    const watchers = folders?.get(folder);
    if (watchers?.delete(watcher) !== true) return;
    this.#size -= 1;
    if (watchers.size === 0) folders?.delete(folder);
    if (folders?.size === 0) this.#resources.delete(resource);
  }

  #all(): Watcher[] {
    return [...this.#resources.values()].flatMap((folders) => [...folders.values()].flatMap((watchers) => [...watchers]));
  }
}

function addToBatches(change: Change, watchers: Iterable<Watcher>, concerned: Watcher[]): void {
  for (const watcher of watchers) {
    if (!watcher.live || change.revision <= watcher.position || !change.key.startsWith(watcher.prefix)) continue;
    if (watcher.batch === undefined) {
      watcher.batch = [];
      concerned.push(watcher);
    }
    watcher.batch.push(change);
  }
}

/** "/pods/" of "/pods/" and of "/pods/def". */
function folderOf(prefix: string): string {
  return prefix.slice(0, prefix.lastIndexOf("/") + 1);
}

/** The end of the next narrower folder of a key after the one that ends at `end`; 0 if none exists. */
function nextFolderEnd(key: string, end: number): number {
  return key.indexOf("/", end) + 1;
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const there = map.get(key);
  if (there !== undefined) return there;
  const made = make();
  map.set(key, made);
  return made;
}
