/**
 * An informer keeps a copy of a kind in memory and notifies handlers of changes. It guarantees, whatever breaks in between (timeouts, cut
 * streams, restarts, compacted history): its content passes through states that the server had, in order, and converges to the server's;
 * handlers are called for every change between two states they were notified of, once, in order. A gap is closed by comparing: then several
 * changes of one object become one call. Types only.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { ObjectKey, ResourceKind } from "../client.ts";

/** Objects by a value of theirs, maintained incrementally: `const podsByNode = defineIndex(pods, (pod) => [pod.spec?.nodeName ?? ""])`. */
export interface Index<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  values(object: T): Iterable<string>;
}

export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** Existing objects are delivered first when a handler is added, ordered by key. Must not throw. */
  added(object: T): void;
  /** `previous` is the object delivered last. Under a periodic resync both may be the same object. */
  updated(object: T, previous: T): void;
  /** The last known state: that of the deletion, or, if it was not observed, the one delivered last. */
  deleted(object: T): void;
}

/**
 * Reads never wait and never fail: they may lag behind foreign writes, never behind writes through `ownWrites` (own-writes.ts). Objects are
 * shared by all readers and must not be modified; with the server in the same process they are also frozen.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  /** Whether it has had the complete content once. Before, reads return nothing or a part. */
  readonly isSynced: boolean;
  /** Resolves when synced; rejects when it is closed before, or the signal aborts. */
  synced(signal?: AbortSignal): Promise<void>;
  /** The resourceVersion up to which its content is complete; "" before it is synced. */
  readonly revision: string;

  get(key: ObjectKey): T | undefined;
  /** Ordered by namespace and name. */
  list(namespace?: string): readonly T[];
  /** Ordered by namespace and name. An index is built on first use. */
  indexed(index: Index<T>, value: string): readonly T[];

  /** `resyncMs`: interval at which all objects are delivered as updates, for handlers that can miss something. Default: never. */
  listen(handler: InformerHandler<T>, options?: { readonly resyncMs?: number }): Disposable;

  /** Undefined if that revision is already known; otherwise resolves when it is. */
  reached(revision: string, signal?: AbortSignal): Promise<void> | undefined;
  /** Undefined if no object of this uid exists (or it is terminating, if `orTerminating`); otherwise resolves when that is so. */
  lost(key: ObjectKey, uid: string, options: { readonly orTerminating: boolean; readonly signal?: AbortSignal }): Promise<void> | undefined;
}

/** Part of a kind. One informer is kept for each. */
export interface InformerScope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** All informers of a program: one per kind (and scope), shared by all users, started on first use. */
export interface Informers extends AsyncDisposable {
  of<T extends KubeObject>(kind: ResourceKind<T>, scope?: InformerScope): Informer<T>;
  /** Undefined if it was not started: waiting for it need not start it. */
  running<T extends KubeObject>(kind: ResourceKind<T>): Informer<T> | undefined;
  /**
   * Stops one informer for all its users: its handlers are no longer called, no request is sent, waiters are rejected. Resolves when it has
   * stopped. Requesting it again starts a new one.
   */
  end<T extends KubeObject>(kind: ResourceKind<T>, scope?: InformerScope): Promise<void>;
  close(): Promise<void>;
  /** The clock that they use. */
  readonly clock: Clock;
}

/** Reads from informers without exposing them. Reading a kind whose informer was not started is a programming error and throws. */
export interface Reader {
  /**
   * Whether the kind is complete: its informer was started and is synced. During a reconciliation that holds for every kind watched by
   * name.
   */
  knows<T extends KubeObject>(kind: ResourceKind<T>): boolean;
  get<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(kind: ResourceKind<T>, namespace?: string): readonly T[];
  indexed<T extends KubeObject>(index: Index<T>, value: string): readonly T[];
  /** Objects whose controller (the owner reference with `controller: true`) is this object, by its uid. */
  controlledBy<T extends KubeObject>(kind: ResourceKind<T>, owner: KubeObject): readonly T[];
  /** Objects of a namespace without a controller: candidates for adoption. */
  uncontrolled<T extends KubeObject>(kind: ResourceKind<T>, namespace: string): readonly T[];
}
