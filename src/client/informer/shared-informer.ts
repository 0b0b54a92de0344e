/**
 * One kind in memory, for everybody in the process: what the reflector hears is put into the store, then told to all handlers, then
 * those who wait for it are let go; one change after the other, each at once. A change that comes while one is being told (a handler
 * made it) waits until that one is told to all, so that no two handlers are told of changes in different orders.
 *
 * Whatever is not newer than what is known is not taken: nothing is told twice. Not here: talking to the server (reflector.ts).
 */
import { NOT_NEEDED } from "../../base/abort.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { compareResourceVersions } from "../../api/machinery/resource-version.ts";
import { assert } from "../../base/assert.ts";
import type { Clock } from "../../base/clock.ts";
import { deepEqual } from "../../base/deep.ts";
import { Fifo } from "../../base/fifo.ts";
import type { Logger } from "../../base/logger.ts";
import type { ObjectKey, ResourceKind } from "../client.ts";
import type { Index, Informer, InformerHandler } from "./informer.ts";
import { compareObjects, ObjectStore, orderOf } from "./object-store.ts";
import type { ReflectorSink } from "./reflector.ts";
import { KeyWaiters, RevisionWaiters } from "./waiters.ts";

export interface SharedInformerOptions {
  readonly clock: Clock;
  readonly log: Logger;
}

type Told<T> =
  | { readonly is: "added" | "deleted"; readonly object: T }
  | { readonly is: "updated"; readonly object: T; readonly previous: T };

interface Listener<T extends KubeObject> {
  readonly handler: InformerHandler<T>;
  readonly stop: AbortController;
}

/** No order of an object is empty. */
const SYNCED = "";

export class SharedInformer<T extends KubeObject> implements Informer<T>, ReflectorSink {
  readonly kind: ResourceKind<T>;
  readonly #options: SharedInformerOptions;
  readonly #objects: ObjectStore<T>;
  readonly #listeners = new Set<Listener<T>>();
  readonly #revisionWaiters = new RevisionWaiters();
  readonly #keyWaiters = new KeyWaiters();
  /** Changes that handlers made while another was being told. */
  readonly #postponed = new Fifo<() => void>();
  #isTelling = false;
  #isSynced = false;
  #isClosed = false;
  #revision = "";
  /** Somebody has written this before it was synced: to be synced is to know that, too. */
  #revisionToSync = "";

  constructor(kind: ResourceKind<T>, options: SharedInformerOptions) {
    this.kind = kind;
    this.#options = options;
    const onIndexFailure = (error: unknown) => options.log.error("An index cannot take an object", { kind: kind.kind, error });
    this.#objects = new ObjectStore({ onIndexFailure });
  }

  // ── what its users see ────────────────────────────────────────────────────────────────────────────

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get revision(): string {
    return this.#isSynced ? this.#revision : "";
  }

  async synced(signal?: AbortSignal): Promise<void> {
    if (this.#isSynced) return;
    if (this.#isClosed) throw this.#closedError();
    await this.#keyWaiters.wait(SYNCED, () => this.#isSynced, signal);
  }

  get(key: ObjectKey): T | undefined {
    return this.#objects.get(key);
  }

  list(namespace?: string): readonly T[] {
    return this.#objects.list(namespace);
  }

  indexed(index: Index<T>, value: string): readonly T[] {
    return this.#objects.indexed(index, value);
  }

  listen(handler: InformerHandler<T>, { resyncMs }: { readonly resyncMs?: number } = {}): Disposable {
    const listener: Listener<T> = { handler, stop: new AbortController() };
    if (this.#isClosed) return { [Symbol.dispose]() {} };
    this.#listeners.add(listener);
    this.#alone(() => {
      for (const object of this.#objects.list()) this.#tellOne(listener, { is: "added", object });
    });
    if (resyncMs !== undefined) void this.#resync(listener, resyncMs);
    return { [Symbol.dispose]: () => this.#forget(listener) };
  }

  reached(revision: string, signal?: AbortSignal): Promise<void> | undefined {
    if (this.#isSynced && compareResourceVersions(revision, this.#revision) <= 0) return undefined;
    if (this.#isClosed) return Promise.reject(this.#closedError());
    if (!this.#isSynced && compareResourceVersions(revision, this.#revisionToSync) > 0) this.#revisionToSync = revision;
    return this.#revisionWaiters.wait(revision, signal);
  }

  lost(
    key: ObjectKey,
    uid: string,
    { orGoing, signal }: { readonly orGoing: boolean; readonly signal?: AbortSignal },
  ): Promise<void> | undefined {
    const isLost = () => {
      if (!this.#isSynced) return false;
      const metadata = this.#objects.get(key)?.metadata;
      return metadata?.uid !== uid || (orGoing && metadata.deletionTimestamp !== undefined);
    };
    if (isLost()) return undefined;
    if (this.#isClosed) return Promise.reject(this.#closedError());
    return this.#keyWaiters.wait(orderOf({ metadata: key }), isLost, signal);
  }

  // ── what the reflector says ───────────────────────────────────────────────────────────────────────

  get known(): string {
    return this.#revision;
  }

  put(object: KubeObject): void {
    this.#change(() => this.#put(object as T));
  }

  remove(object: KubeObject): void {
    this.#change(() => this.#remove(object as T));
  }

  reach(revision: string): void {
    this.#change(() => {
      if (compareResourceVersions(revision, this.#revision) > 0) this.#reached(revision);
    });
  }

  replace(objects: readonly KubeObject[], revision: string, { isNewHistory }: { readonly isNewHistory: boolean }): void {
    this.#change(() => this.#replace(objects as readonly T[], revision, isNewHistory));
  }

  /** From here on nobody is called any more. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of [...this.#listeners]) this.#forget(listener);
    this.#revisionWaiters.rejectAll(this.#closedError());
    this.#keyWaiters.rejectAll(this.#closedError());
  }

  // ── changes, one at a time ────────────────────────────────────────────────────────────────────────

  #change(change: () => void): void {
    if (this.#isClosed) return;
    if (this.#isTelling) this.#postponed.push(change);
    else this.#alone(change);
  }

  /** Changes that `work` brings about wait until it is done. */
  #alone(work: () => void): void {
    if (this.#isTelling) return work();
    this.#isTelling = true;
    try {
      for (let next: (() => void) | undefined = work; next !== undefined; next = this.#postponed.shift()) next();
    } finally {
      this.#isTelling = false;
    }
  }

  #put(object: T): void {
    if (!this.#isNews(object)) return;
    const previous = this.#objects.put(object);
    this.#tell(replacing(previous, object));
    this.#keyWaiters.changed(orderOf(object));
    this.#reached(versionOf(object));
  }

  #remove(object: T): void {
    if (!this.#isNews(object)) return;
    const previous = this.#objects.delete(object.metadata);
    if (previous !== undefined) {
      // The last state of another one that had its name says nothing of this one.
      this.#tell([{ is: "deleted", object: previous.metadata.uid === object.metadata.uid ? object : previous }]);
      this.#keyWaiters.changed(orderOf(object));
    }
    this.#reached(versionOf(object));
  }

  /** All at once, then told: whoever is told reads a state that the server had. */
  #replace(objects: readonly T[], revision: string, isNewHistory: boolean): void {
    const differences = [...differencesOf(this.#objects.list(), objects, { byContent: isNewHistory })];
    for (const told of differences) {
      if (told.is !== "deleted") this.#objects.put(told.object);
      // One that another takes the place of is not there any more by then, or is replaced next.
      else this.#objects.delete(told.object.metadata);
    }
    this.#tell(differences);
    if (isNewHistory) this.#forgetHistory();
    this.#reached(revision);
    this.#keyWaiters.allChanged();
  }

  /** Versions that somebody waits for belong to a history that is no more; they may never come. */
  #forgetHistory(): void {
    this.#revisionToSync = "";
    this.#revisionWaiters.resolveAll();
  }

  #isNews(object: T): boolean {
    return compareResourceVersions(versionOf(object), this.#revision) > 0;
  }

  #reached(revision: string): void {
    this.#revision = revision;
    if (!this.#isSynced && compareResourceVersions(revision, this.#revisionToSync) >= 0) {
      this.#isSynced = true;
      this.#keyWaiters.allChanged();
    }
    if (this.#isSynced) this.#revisionWaiters.reached(revision);
  }

  /** To those who listen now; who begins to listen meanwhile sees what there is by then. */
  #tell(changes: readonly Told<T>[]): void {
    if (changes.length === 0) return;
    const listeners = [...this.#listeners];
    for (const told of changes) for (const listener of listeners) this.#tellOne(listener, told);
  }

  /** One that breaks its word and throws must not keep the others from being told. */
  #tellOne({ handler, stop }: Listener<T>, told: Told<T>): void {
    if (stop.signal.aborted) return;
    try {
      if (told.is === "updated") handler.updated(told.object, told.previous);
      else handler[told.is](told.object);
    } catch (error) {
      const { namespace, name } = told.object.metadata;
      this.#options.log.error("A handler of an informer threw", { kind: this.kind.kind, namespace, name, is: told.is, error });
    }
  }

  async #resync(listener: Listener<T>, resyncMs: number): Promise<void> {
    assert(resyncMs > 0, "a resync comes after a while");
    const { signal } = listener.stop;
    while (!signal.aborted) {
      try {
        await this.#options.clock.sleep(resyncMs, signal);
      } catch {
        return; // It does not listen any more.
      }
      this.#change(() => {
        for (const object of this.#objects.list()) this.#tellOne(listener, { is: "updated", object, previous: object });
      });
    }
  }

  #forget(listener: Listener<T>): void {
    listener.stop.abort(NOT_NEEDED);
    this.#listeners.delete(listener);
  }

  #closedError(): Error {
    return new Error(`Cannot wait for ${this.kind.plural}: their informer is closed`);
  }
}

/** The reflector lets nothing through that has none. */
function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? "";
}

/** How one that comes in the place of another is told: as it, or, if it is another one of its name, after it. */
function replacing<T extends KubeObject>(previous: T | undefined, object: T): readonly Told<T>[] {
  if (previous === undefined) return [{ is: "added", object }];
  if (previous.metadata.uid === object.metadata.uid) return [{ is: "updated", object, previous }];
  return [
    { is: "deleted", object: previous },
    { is: "added", object },
  ];
}

/**
 * What has happened between two lists, in the order of their keys. `byContent`: versions that are the same say nothing, since a store
 * that was restored gives them anew.
 */
function* differencesOf<T extends KubeObject>(
  before: readonly T[],
  now: readonly T[],
  { byContent }: { readonly byContent: boolean },
): Iterable<Told<T>> {
  const isSame = (a: T, b: T) =>
    a === b || (a.metadata.uid === b.metadata.uid && (byContent ? deepEqual(a, b) : versionOf(a) === versionOf(b)));
  let next = 0;
  for (const object of now) {
    for (let old = before[next]; old !== undefined && compareObjects(old, object) < 0; old = before[++next]) {
      yield { is: "deleted", object: old };
    }
    const old = before[next];
    const isKnown = old !== undefined && compareObjects(old, object) === 0;
    if (isKnown) next++;
    if (!isKnown) yield { is: "added", object };
    else if (!isSame(old, object)) yield* replacing(old, object);
  }
  for (const object of before.slice(next)) yield { is: "deleted", object };
}
