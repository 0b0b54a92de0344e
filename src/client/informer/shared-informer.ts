/**
 * One kind in memory, shared by the process: what the reflector receives is put into the store, then delivered to all handlers, then
 * waiters are released; one change at a time, synchronously. A change that arrives during a delivery (a handler made it) waits until that
 * delivery is complete, so that all handlers see the same order.
 *
 * What is not newer than the known state is ignored: nothing is delivered twice. Not here: communication with the server (reflector.ts).
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

type Delivered<T> =
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
  /** Changes made by handlers during a delivery. */
  readonly #postponed = new Fifo<() => void>();
  #isDelivering = false;
  #isSynced = false;
  #isClosed = false;
  #revision = "";
  /** Revisions written before it was synced: synced includes them. */
  #revisionToSync = "";

  constructor(kind: ResourceKind<T>, options: SharedInformerOptions) {
    this.kind = kind;
    this.#options = options;
    const onIndexFailure = (error: unknown) => options.log.error("Adding an object to an index failed", { kind: kind.kind, error });
    this.#objects = new ObjectStore({ onIndexFailure });
  }

  // ── for its users ─────────────────────────────────────────────────────────────────────────────────

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
      for (const object of this.#objects.list()) this.#deliverOne(listener, { is: "added", object });
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
    { orTerminating, signal }: { readonly orTerminating: boolean; readonly signal?: AbortSignal },
  ): Promise<void> | undefined {
    const isLost = () => {
      if (!this.#isSynced) return false;
      const metadata = this.#objects.get(key)?.metadata;
      return metadata?.uid !== uid || (orTerminating && metadata.deletionTimestamp !== undefined);
    };
    if (isLost()) return undefined;
    if (this.#isClosed) return Promise.reject(this.#closedError());
    return this.#keyWaiters.wait(orderOf({ metadata: key }), isLost, signal);
  }

  // ── for the reflector ─────────────────────────────────────────────────────────────────────────────

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

  /** From here on no handler is called. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const listener of [...this.#listeners]) this.#forget(listener);
    this.#revisionWaiters.rejectAll(() => this.#closedError());
    this.#keyWaiters.rejectAll(() => this.#closedError());
  }

  // ── changes, one at a time ────────────────────────────────────────────────────────────────────────

  #change(change: () => void): void {
    if (this.#isClosed) return;
    if (this.#isDelivering) this.#postponed.push(change);
    else this.#alone(change);
  }

  /** Changes caused by `work` wait until it is done. */
  #alone(work: () => void): void {
    if (this.#isDelivering) return work();
    this.#isDelivering = true;
    try {
      for (let next: (() => void) | undefined = work; next !== undefined; next = this.#postponed.shift()) next();
    } finally {
      this.#isDelivering = false;
    }
  }

  #put(object: T): void {
    if (!this.#isNews(object)) return;
    const previous = this.#objects.put(object);
    this.#recordEvent(replacing(previous, object));
    this.#keyWaiters.changed(orderOf(object));
    this.#reached(versionOf(object));
  }

  #remove(object: T): void {
    if (!this.#isNews(object)) return;
    const previous = this.#objects.delete(object.metadata);
    if (previous !== undefined) {
      // The last state of another object with the same name says nothing about this one.
      this.#recordEvent([{ is: "deleted", object: previous.metadata.uid === object.metadata.uid ? object : previous }]);
      this.#keyWaiters.changed(orderOf(object));
    }
    this.#reached(versionOf(object));
  }

  /** All at once, then delivered: handlers read a state that the server had. */
  #replace(objects: readonly T[], revision: string, isNewHistory: boolean): void {
    const differences = [...differencesOf(this.#objects.list(), objects, { byContent: isNewHistory })];
    for (const delivered of differences) {
      if (delivered.is !== "deleted") this.#objects.put(delivered.object);
      // One that is replaced by another no longer exists by then, or is replaced next.
      else this.#objects.delete(delivered.object.metadata);
    }
    this.#recordEvent(differences);
    if (isNewHistory) this.#forgetHistory();
    this.#reached(revision);
    this.#keyWaiters.allChanged();
  }

  /** Awaited versions belong to the previous history; they may never come. */
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

  /** To the current handlers; one added meanwhile sees the current state. */
  #recordEvent(changes: readonly Delivered<T>[]): void {
    if (changes.length === 0) return;
    const listeners = [...this.#listeners];
    for (const delivered of changes) for (const listener of listeners) this.#deliverOne(listener, delivered);
  }

  /** A handler that throws against its contract must not affect the others. */
  #deliverOne({ handler, stop }: Listener<T>, delivered: Delivered<T>): void {
    if (stop.signal.aborted) return;
    try {
      if (delivered.is === "updated") handler.updated(delivered.object, delivered.previous);
      else handler[delivered.is](delivered.object);
    } catch (error) {
      const { namespace, name } = delivered.object.metadata;
      this.#options.log.error("A handler of an informer threw", { kind: this.kind.kind, namespace, name, is: delivered.is, error });
    }
  }

  async #resync(listener: Listener<T>, resyncMs: number): Promise<void> {
    assert(resyncMs > 0, "a resync comes after a while");
    const { signal } = listener.stop;
    while (!signal.aborted) {
      try {
        await this.#options.clock.sleep(resyncMs, signal);
      } catch {
        return; // It was removed.
      }
      this.#change(() => {
        for (const object of this.#objects.list()) this.#deliverOne(listener, { is: "updated", object, previous: object });
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

/** The reflector delivers nothing without one. */
function versionOf({ metadata }: KubeObject): string {
  return metadata.resourceVersion ?? "";
}

/** The events for an object that replaces another: an update, or, if it only has the same name, a deletion and an addition. */
function replacing<T extends KubeObject>(previous: T | undefined, object: T): readonly Delivered<T>[] {
  if (previous === undefined) return [{ is: "added", object }];
  if (previous.metadata.uid === object.metadata.uid) return [{ is: "updated", object, previous }];
  return [
    { is: "deleted", object: previous },
    { is: "added", object },
  ];
}

/**
 * The difference between two lists, ordered by key. `byContent`: equal versions do not mean equal objects, since a restored store reuses
 * them.
 */
function* differencesOf<T extends KubeObject>(
  before: readonly T[],
  now: readonly T[],
  { byContent }: { readonly byContent: boolean },
): Iterable<Delivered<T>> {
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
