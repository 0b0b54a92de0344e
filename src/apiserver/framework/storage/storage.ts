/**
 * The contract of storage: objects at revisions, the cache of one resource, and its conditional writes. The engine implements it
 * (apiserver/storage); plugins get it from an Endpoint and know neither keys nor bytes.
 * Not here: which writes are valid (writes.ts), how the store keeps values (store/store.ts).
 */
import type { CancelSignal } from "../../../base/abort.ts";
import type { SortedMap } from "../../../base/sorted-map.ts";
import type { Lru } from "../../../base/lru.ts";
import type { ManagedFields } from "../../../api/machinery/apply/managed-fields.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import type { Resource, ServedVersion } from "../../../api/machinery/resource.ts";
import type { ResourceName } from "../../../api/machinery/status-error.ts";
import type { Entry, Operation, Precondition, Store, Value } from "../../../store/store.ts";
import type { MaybePromise } from "../authentication.ts";
import type { ObjectName } from "./object-key.ts";

/** One object at one revision; all readers of this process share it. */
export interface StoredObject {
  /** 0: never written (a dry run), or the commit is still in progress. */
  readonly revision: number;
  /** In the storage version, without managedFields. Frozen by type, and in tests and development in fact. */
  readonly object: KubeObject;
  /** The object in a served version. Where another program converts, it must be prepared (prepared-objects.ts). */
  in(version: ServedVersion): KubeObject;
  /** True if `in` needs no conversion by another program any more. */
  isPreparedFor(version: ServedVersion): boolean;
  /** Keeps the converted form for `in`, as long as the object lives. */
  keepForm(version: ServedVersion, form: KubeObject): KubeObject;
  /** True if `bytes` are in this version. */
  isStoredIn(version: ServedVersion): boolean;
  /** True if an update that changes nothing must still be written: the stored bytes are of another version or schema. */
  readonly isOutdated: boolean;
  managed(): ManagedFields;
  /** The stored form. */
  bytes(): Uint8Array;
  /** The same content at another revision: the last state of a deleted object. */
  at(revision: number): StoredObject;
  /** The commit assigned this revision. Idempotent. */
  arriveAt(revision: number): void;
  /** The value to commit. `asBytes`: encode now, for drivers that do not keep the object itself. */
  value(options: { readonly asBytes: boolean }): Value;
}

/** How objects are encoded in one version: a head with the revision, and a tail that is shared by all responses. */
export interface ObjectEncoding {
  readonly apiVersion: string;
  /** Bytes of the head in the stored form. */
  readonly headLength: number;
  write(object: KubeObject, managedFields: string): Uint8Array;
  headAt(revision: number): string;
  /** The head of an item of a list, which has neither kind nor apiVersion. */
  itemHeadAt(revision: number): string;
}

/** Which changes a listener receives, as far as the cache indexes listeners by it. */
export interface WatchScope {
  /** "" for all, and for cluster-scoped objects. */
  readonly namespace: string;
  /** Only the object of this name. */
  readonly name?: string;
  /** Only objects whose indexed field has this value. */
  readonly field?: { readonly path: string; readonly value: string };
}

export interface ObjectChange {
  readonly type: "put" | "delete";
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** After a delete: the last state, at the revision of the delete. */
  readonly object: StoredObject;
  /** Absent: the object is new. */
  readonly previous: StoredObject | undefined;
  /** Encodings of this change that all readers of one form share, such as watch frames, by a key of the encoder's. */
  readonly shared: Map<unknown, unknown>;
}

export interface ChangeListener {
  readonly scope: WatchScope;
  changed(change: ObjectChange): void;
}

/** Receives changes until `ended` is called or it leaves. */
export interface CacheListener extends ChangeListener {
  /** The store's watch failed, or the server closes: no more changes follow. */
  ended(): void;
}

/** Keys are orders (store/key.ts). Immutable. */
export type Snapshot = SortedMap<string, StoredObject>;

/** All objects of one resource in memory, in order, fed by one watch of the store. */
export interface ObjectCache {
  readonly isLoaded: boolean;
  /** It receives no more changes: the resource was replaced or removed, or the server stops. */
  readonly isClosed: boolean;
  /** Revision of the newest change, or of the load. */
  readonly lastChange: number;
  /** Number of listeners. */
  readonly watchers: number;
  readonly size: number;
  /** Resolves when the cache can be read. Rejects with a StatusError if the store cannot be read. */
  load(): Promise<void>;
  /** The newest revision, at least as new as every write acknowledged before the call; undefined: read the store itself. */
  freshRevision(): Promise<number | undefined>;
  /** The revision that the cache has certainly reached. */
  knownRevision(): number;
  get(key: string): StoredObject | undefined;
  /** The present state; later changes do not show in it. Costs nothing. */
  snapshot(): Snapshot;
  /** Objects whose indexed field has this value, in order; undefined if there is no such index. */
  withField(path: string, value: string): Iterable<readonly [string, StoredObject]> | undefined;
  /** Calls the listener with each later change, until it is ended. */
  join(listener: CacheListener): void;
  leave(listener: CacheListener): void;
}

export type WriteResult =
  | { readonly written: true }
  /** `again`: the object could be written, but not the operations alongside it. */
  | { readonly written: false; readonly found: StoredObject | undefined; readonly again?: true };

export interface WriteOptions {
  /** Cancels until the store has accepted the write, never after. */
  readonly signal: CancelSignal | undefined;
  /** Operations on other resources, committed with the write or not at all. */
  readonly alongside?: readonly Operation[];
}

/** One resource in the store. */
export interface ResourceStorage {
  readonly resource: Resource;
  readonly name: ResourceName;
  /** Prefix of all keys of this resource. */
  readonly prefix: string;
  readonly cache: ObjectCache;
  readonly store: Store;
  /** Snapshots of paged lists in progress, by revision. */
  readonly pagedSnapshots: Lru<number, Snapshot>;
  /** The newest state, at least as new as every write acknowledged before the call. */
  get(name: ObjectName): MaybePromise<StoredObject | undefined>;
  /** The cached state, which may be a little old on a shared store. */
  getCached(name: ObjectName): MaybePromise<StoredObject | undefined>;
  create(name: ObjectName, object: StoredObject, options: WriteOptions): Promise<WriteResult>;
  /** Only if it is still at `previous`. */
  update(name: ObjectName, object: StoredObject, previous: StoredObject, options: WriteOptions): Promise<WriteResult>;
  /** Only if it is still at `previous`. Returns the revision of the deletion. */
  delete(
    name: ObjectName,
    previous: StoredObject,
    options: WriteOptions,
  ): Promise<{ readonly written: true; readonly revision: number } | Extract<WriteResult, { written: false }>>;
  /** For a commit together with another object. */
  putOperation(name: ObjectName, object: StoredObject, precondition: Precondition): Operation;
  deleteOperation(name: ObjectName, previous: StoredObject): Operation;
  /** An object to be written. Its revision is set when it is committed. `revision`: that of a dry run's result. */
  newObject(object: KubeObject, managed: ManagedFields, revision?: number): StoredObject;
  /** The object of an entry; the cache's own if it is the same. */
  fromEntry(entry: Entry): StoredObject;
  /** The object of an entry or change, whatever the cache holds. */
  read(entry: Pick<Entry, "key" | "value" | "revision">): StoredObject;
  keyOf(name: ObjectName): string;
  nameOf(key: string): ObjectName;
  /** The orders of all objects of a namespace; "" for all of them. */
  rangeOf(namespace: string): { readonly from: string; readonly before?: string };
  emptySnapshot(): Snapshot;
  /** Rejects with the store's "Compacted" if its history no longer reaches back to `revision`. */
  checkKept(revision: number): Promise<void>;
  close(): void;
}
