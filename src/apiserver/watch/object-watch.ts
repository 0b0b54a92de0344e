/**
 * One watch, from its first event to its end: first the present objects (if requested), then changes from the store's history at the
 * reader's pace, then live changes. It switches from history to live in the event-loop tick in which it has caught up, so no event is lost,
 * duplicated or merged.
 */
import { expired, isStatusError, type StatusError } from "../../api/machinery/status-error.ts";
import type { Change, Watch, WatchEnd } from "../../store/store.ts";
import type { Selection } from "./selection.ts";
import type { RunningWatch, WatchEvent, WatchReceiver } from "../framework/watch.ts";
import type { CacheListener, ObjectChange, ResourceStorage, Snapshot, StoredObject, WatchScope } from "../framework/storage/storage.ts";

/** Maximum number of live changes of one watch that wait for a conversion. */
const WAITING_CHANGES_MAX = 1_000;

export interface ObjectWatchOptions {
  readonly storage: ResourceStorage;
  readonly selection: Selection;
  /** Only changes after this revision. */
  readonly after: number;
  /** The objects at `after`, sent first as ADDED. */
  readonly initial?: Snapshot;
  /** A bookmark after the initial objects marks them as complete. */
  readonly marksInitialEnd: boolean;
  readonly wantsBookmarks: boolean;
  /** Converts objects to the version of the watch before they are used. Returns a promise only if there is something to wait for. */
  prepare(objects: Iterable<StoredObject>): Promise<void> | undefined;
  /** Called when an event could not be encoded or delivered; the watch ends. */
  onFailure(error: unknown): void;
}

export class ObjectWatch implements RunningWatch, CacheListener {
  readonly scope: WatchScope;
  readonly #options: ObjectWatchOptions;
  readonly #receiver: WatchReceiver;
  /** Everything up to this revision was delivered, or does not match this watch. */
  #reached: number;
  #isLive = false;
  #hasEnded = false;
  #onEnded: () => void = () => {};
  #history: Watch | undefined;
  /** A chunk of history is being delivered. */
  #isReplaying = false;
  /** Live changes that wait for their conversion, in order. Absent: none wait. */
  #converting: Promise<void> | undefined;
  #waiting = 0;

  constructor(options: ObjectWatchOptions, receiver: WatchReceiver) {
    this.scope = options.selection.scope;
    this.#options = options;
    this.#receiver = receiver;
    this.#reached = options.after;
  }

  get wantsBookmarks(): boolean {
    return this.#options.wantsBookmarks && this.#isLive;
  }

  /** `listener` is called once when the watch has ended. */
  onEnded(listener: () => void): void {
    this.#onEnded = listener;
  }

  /** Live immediately if there is nothing to deliver first; so the next writer's change is delivered before its write is acknowledged. */
  beginIfUpToDate(): boolean {
    const { initial, marksInitialEnd, storage } = this.#options;
    if (initial !== undefined || marksInitialEnd || this.#reached < storage.cache.lastChange) return false;
    this.#goLive();
    return this.#isLive;
  }

  /** Resolves when the initial events are delivered. If the receiver fails, only this watch ends. */
  async begin(): Promise<void> {
    const { initial, marksInitialEnd } = this.#options;
    try {
      if (initial !== undefined) await this.#show(initial);
      if (marksInitialEnd) await this.#give({ type: "BOOKMARK", revision: this.#options.after, initialEventsEnd: true });
      this.#catchUp();
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** The watch's progress, for a receiver without a matching event for a while. */
  bookmark(revision: number): void {
    if (!this.wantsBookmarks || this.#hasEnded || this.#converting !== undefined) return;
    this.#reached = Math.max(this.#reached, revision);
    this.#send({ type: "BOOKMARK", revision: this.#reached, initialEventsEnd: false });
  }

  changed(change: ObjectChange): void {
    if (change.revision <= this.#reached) return;
    this.#reached = change.revision;
    const preparing = this.#options.prepare(objectsOf(change));
    if (preparing === undefined && this.#converting === undefined) return this.#deliver(change);
    this.#deliverLater(change, preparing);
  }

  #deliver(change: ObjectChange): void {
    const event = this.#hasEnded ? undefined : this.#eventOf(change);
    if (event !== undefined) this.#send(event);
  }

  /** After all changes before it. A conversion that is slower than the writers ends the watch; its client resumes it. */
  #deliverLater(change: ObjectChange, preparing: Promise<void> | undefined): void {
    // Handled below, once it is this change's turn.
    preparing?.catch(() => undefined);
    if (++this.#waiting > WAITING_CHANGES_MAX) return this.stop();
    const before = this.#converting ?? Promise.resolve();
    const done = before
      .then(() => preparing)
      .then(
        () => this.#deliver(change),
        (error: unknown) => this.#refuse(error),
      )
      .finally(() => {
        this.#waiting--;
        if (this.#converting === done) this.#converting = undefined;
      });
    this.#converting = done;
  }

  /** Reports a failed conversion as the last event. */
  #refuse(error: unknown): void {
    if (this.#hasEnded) return;
    if (isStatusError(error)) this.#send({ type: "ERROR", error });
    else this.#options.onFailure(error);
    this.stop();
  }

  /** Live: does not wait for the receiver. If it fails, now or later, only this watch ends. */
  #send(event: WatchEvent): void {
    try {
      this.#receiver.event(event)?.catch((error: unknown) => this.#fail(error));
    } catch (error) {
      this.#fail(error);
    }
  }

  /** The cache's watch of the store broke. Clients resume from the last version that they received. */
  ended(): void {
    this.stop();
  }

  stop(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#options.storage.cache.leave(this);
    this.#history?.close();
    this.#onEnded();
    this.#receiver.ended();
  }

  #fail(error: unknown): void {
    this.#options.onFailure(error);
    this.stop();
  }

  async #show(initial: Snapshot): Promise<void> {
    const { selection, storage } = this.#options;
    const { namespace } = this.scope;
    const preparing = this.#options.prepare(valuesOf(initial.entries(storage.rangeOf(namespace))));
    if (preparing !== undefined) await preparing;
    for (const [, object] of initial.entries(storage.rangeOf(namespace))) {
      if (this.#hasEnded) return;
      if (!selection.matches(object)) continue;
      const wait = this.#give({ type: "ADDED", object });
      if (wait !== undefined) await wait;
    }
  }

  #give(event: WatchEvent): void | Promise<void> {
    return this.#hasEnded ? undefined : this.#receiver.event(event);
  }

  /** Live if nothing was missed; otherwise from history until it has caught up. */
  #catchUp(): void {
    if (this.#hasEnded) return;
    const { cache, store, prefix } = this.#options.storage;
    if (this.#reached >= cache.lastChange) return this.#goLive();
    this.#history = store.watch(
      prefix,
      { after: this.#reached },
      {
        changes: (changes) => this.#replayAll(changes),
        progress: (revision) => this.#cameTo(revision),
        ended: (end) => this.#historyEnded(end),
      },
    );
    // A watch that resumes after a restart receives no change that shows that it is up to date, so it queries the store.
    this.#history.requestProgress();
  }

  /** History has nothing more up to here: possibly nothing of this resource has changed at all. */
  #cameTo(revision: number): void {
    if (this.#isLive || this.#hasEnded || this.#isReplaying) return;
    this.#reached = Math.max(this.#reached, revision);
    if (this.#reached < this.#options.storage.cache.lastChange) return;
    this.#goLive();
    this.#history?.close();
  }

  async #replayAll(changes: readonly Change[]): Promise<void> {
    this.#isReplaying = true;
    for (const change of changes) await this.#replay(change);
    this.#isReplaying = false;
    if (this.#hasEnded) return;
    if (this.#history === undefined) return this.#catchUp();
    if (this.#reached < this.#options.storage.cache.lastChange) return;
    this.#goLive();
    this.#history.close();
  }

  async #replay(change: Change): Promise<void> {
    if (this.#hasEnded || change.revision <= this.#reached) return;
    const { storage } = this.#options;
    const { namespace, name } = this.#options.storage.nameOf(change.key);
    const previous = change.previous === undefined ? undefined : storage.read(change.previous);
    const object = change.type === "put" ? storage.read(change) : (previous as StoredObject).at(change.revision);
    const past: ObjectChange = { type: change.type, namespace, name, revision: change.revision, object, previous, shared: new Map() };
    const preparing = this.#options.prepare(objectsOf(past));
    if (preparing !== undefined) await preparing.catch((error: unknown) => this.#refuse(error));
    if (this.#hasEnded) return;
    this.#reached = change.revision;
    const event = this.#isInScope(past) ? this.#eventOf(past) : undefined;
    if (event !== undefined) await this.#give(event);
  }

  #goLive(): void {
    this.#isLive = true;
    this.#options.storage.cache.join(this);
  }

  #historyEnded(end: WatchEnd): void {
    if (this.#isLive || this.#hasEnded) return;
    // The reader was slower than the changes: history resumes where it stopped, once the reader has taken what is buffered.
    if (end.reason === "slow") {
      this.#history = undefined;
      return this.#isReplaying ? undefined : this.#catchUp();
    }
    if (end.reason === "failed") this.#options.onFailure(end.error);
    if (end.reason === "compacted") void this.#give({ type: "ERROR", error: tooOld(this.#reached, end.compactedRevision) });
    this.stop();
  }

  /** Live changes are indexed by group; changes from history must be matched here. */
  #isInScope({ namespace, name }: ObjectChange): boolean {
    if (this.scope.namespace !== "" && namespace !== this.scope.namespace) return false;
    return this.scope.name === undefined || name === this.scope.name;
  }

  #eventOf(change: ObjectChange): WatchEvent | undefined {
    const { selection } = this.#options;
    // A group by field or name ignores the namespace.
    if (this.scope.namespace !== "" && change.namespace !== this.scope.namespace) return undefined;
    const { object, previous, shared } = change;
    const matches = change.type === "put" && selection.matches(object);
    const matched = previous !== undefined && (selection.isFiltered ? selection.matches(previous) : true);
    if (matches) return { type: matched ? "MODIFIED" : "ADDED", object, shared };
    if (!matched) return undefined;
    return { type: "DELETED", object: change.type === "delete" ? object : lastSeen(change), shared };
  }
}

function* objectsOf({ object, previous }: ObjectChange): Iterable<StoredObject> {
  yield object;
  if (previous !== undefined) yield previous;
}

function* valuesOf(entries: Iterable<readonly [string, StoredObject]>): Iterable<StoredObject> {
  for (const [, object] of entries) yield object;
}

/** An object that no longer matches the selector is sent in its previous state, at the revision at which it stopped matching. */
function lastSeen({ shared, previous, revision }: ObjectChange): StoredObject {
  const known = shared.get(LAST_SEEN);
  if (known !== undefined) return known as StoredObject;
  const made = (previous as StoredObject).at(revision);
  shared.set(LAST_SEEN, made);
  return made;
}

const LAST_SEEN = Symbol("last seen");

export function tooOld(wanted: number, oldest: number): StatusError {
  return expired(`too old resource version: ${wanted} (${oldest})`);
}
