/**
 * What there is, in memory, and told as it changes. It keeps true, whatever breaks in between (timeouts, cut streams, restarts, forgotten
 * history): its content goes through states that the server's had, in order, and ends equal to it; handlers are told every change between
 * two states they were told of, once, in order. A stretch that was not seen is made up for by comparing: then several changes of one
 * object are told as one. Only types and words are here.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Clock } from "../../base/clock.ts";
import type { ObjectKey, ResourceKind } from "../client.ts";

/** Objects by a value of theirs, kept up to date as they change: `const podsByNode = defineIndex(pods, (pod) => [pod.spec?.nodeName ?? ""])`. */
export interface Index<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  values(object: T): Iterable<string>;
}

export interface InformerHandler<T extends KubeObject = KubeObject> {
  /** Those that are there when one begins to listen come first, in the order of their keys. Must not throw. */
  added(object: T): void;
  /** `previous` is the one told last. Under a periodic resync both may be the same object. */
  updated(object: T, previous: T): void;
  /** The last state that is known of it: that of its deletion, or, if that was not seen, the one told last. */
  deleted(object: T): void;
}

/**
 * Reads never wait and never fail: they may lag behind what others write, never behind what was written through `ownWrites`
 * (own-writes.ts). Objects are shared by all who read them and never to be changed; where the server is in the same process they are
 * frozen, too.
 */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  /** Whether it has known everything once. Before, reads show nothing or a part. */
  readonly isSynced: boolean;
  /** Resolves when it is; rejects when it is closed before, or the signal comes. */
  synced(signal?: AbortSignal): Promise<void>;
  /** The resourceVersion up to which it knows everything; "" before it is synced. */
  readonly revision: string;

  get(key: ObjectKey): T | undefined;
  /** In the order of namespace and name. */
  list(namespace?: string): readonly T[];
  /** In the order of namespace and name. An index is built when it is first asked for. */
  indexed(index: Index<T>, value: string): readonly T[];

  /** `resyncMs`: every so often all are told as updated, for handlers that can lose something. Default: never. */
  listen(handler: InformerHandler<T>, options?: { readonly resyncMs?: number }): Disposable;

  /** Undefined if it knows that revision already; otherwise resolves when it does. */
  reached(revision: string, signal?: AbortSignal): Promise<void> | undefined;
  /** Undefined if the object of this uid is not there (or is going, if `orGoing`); otherwise resolves when that is so. */
  lost(key: ObjectKey, uid: string, options: { readonly orGoing: boolean; readonly signal?: AbortSignal }): Promise<void> | undefined;
}

/** Of which part of a kind. One informer is kept for each. */
export interface InformerScope {
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** All informers of a process or a program: one per kind (and scope), shared by everybody who asks for it, begun when it is first asked for. */
export interface Informers extends AsyncDisposable {
  of<T extends KubeObject>(kind: ResourceKind<T>, scope?: InformerScope): Informer<T>;
  /** Undefined if nobody has asked for it: whoever only wants to wait for it need not begin it. */
  running<T extends KubeObject>(kind: ResourceKind<T>): Informer<T> | undefined;
  /**
   * Ends one informer: its handlers are not called any more, nothing is asked of the server, who waits for it is refused. For who owns it,
   * since it is ended for everybody; resolves when it has ended. Who asks for it again begins a new one.
   */
  end<T extends KubeObject>(kind: ResourceKind<T>, scope?: InformerScope): Promise<void>;
  close(): Promise<void>;
  /** The time that they go by. */
  readonly clock: Clock;
}

/** Reading from the informers, without seeing them. Reading a kind whose informer was not begun is a programmer's mistake and throws. */
export interface Reader {
  /** Whether everything of the kind is shown: its informer was begun and is synced. In a pass that is so of every kind watched by name. */
  knows<T extends KubeObject>(kind: ResourceKind<T>): boolean;
  get<T extends KubeObject>(kind: ResourceKind<T>, key: ObjectKey): T | undefined;
  list<T extends KubeObject>(kind: ResourceKind<T>, namespace?: string): readonly T[];
  indexed<T extends KubeObject>(index: Index<T>, value: string): readonly T[];
  /** Those whose controller (the owner reference that says `controller: true`) is this object, by its uid. */
  controlledBy<T extends KubeObject>(kind: ResourceKind<T>, owner: KubeObject): readonly T[];
  /** Those of a namespace that have no controller: they can be adopted. */
  uncontrolled<T extends KubeObject>(kind: ResourceKind<T>, namespace: string): readonly T[];
}
