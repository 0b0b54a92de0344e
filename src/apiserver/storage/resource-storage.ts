/**
 * One resource in the store: reads from its cache, writes with preconditions. The only place that knows keys and commits. Not here: which
 * writes are valid (write/), delivery to watches (watch/), API errors of a failing store (store-failure.ts).
 */
import type { CancelSignal } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { Lru } from "../../base/lru.ts";
import { SortedMap } from "../../base/sorted-map.ts";
import type { ResourceName } from "../../api/machinery/status-error.ts";
import type { ManagedFields } from "../../api/machinery/apply/managed-fields.ts";
import { apiVersionOf, type KubeObject } from "../../api/machinery/object.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { storagePrefix } from "../../api/machinery/storage-prefix.ts";
import { COMPACTION_KEY } from "../../store/compaction.ts";
import type { CommitResult, Entry, Operation, Precondition, Store } from "../../store/store.ts";
import { isStoreError } from "../../store/store-error.ts";
import type { MaybePromise } from "../framework/authentication.ts";
import type { ForeignReader } from "./foreign-value.ts";
import { rangeOf, WatchedCache } from "./object-cache.ts";
import { ObjectFormat } from "./object-format.ts";
import { storedCompleter } from "./stored-completer.ts";
import { namespacePrefix, objectKey, objectName, type ObjectName } from "../framework/storage/object-key.ts";
import { translated } from "../framework/storage/store-failure.ts";
import type { ResourceStorage, Snapshot, StoredObject, WriteOptions, WriteResult } from "../framework/storage/storage.ts";
import { ObjectFamily, SharedObject } from "./stored-object.ts";
import type { FieldReaders } from "./watch-index.ts";

/** Maximum number of concurrent paged lists of one resource that need not read history again. */
const PAGED_SNAPSHOTS_MAX = 8;

export interface StorageContext {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Logger;
  readonly freezes: boolean;
}

export class CachedResourceStorage implements ResourceStorage {
  readonly resource: Resource;
  readonly name: ResourceName;
  readonly prefix: string;
  readonly family: ObjectFamily;
  readonly cache: WatchedCache;
  readonly store: Store;
  /** Snapshots of paged lists in progress. They share all objects that did not change between them. */
  readonly pagedSnapshots = new Lru<number, Snapshot>({ max: PAGED_SNAPSHOTS_MAX });
  readonly #clock: Clock;

  constructor(resource: Resource, { store, clock, log, freezes }: StorageContext, readForeign?: ForeignReader) {
    const { group } = resource.storage;
    this.resource = resource;
    this.name = { group, plural: resource.plural };
    this.prefix = storagePrefix(this.name);
    this.store = store;
    this.#clock = clock;
    const keepsVersion = resource.completesStored === true;
    const format = new ObjectFormat({ apiVersion: apiVersionOf(resource.storage), kind: resource.kind, readForeign, keepsVersion });
    this.family = new ObjectFamily(format, { freezes, complete: keepsVersion ? storedCompleter(resource) : undefined });
    this.cache = new WatchedCache({ store, prefix: this.prefix, family: this.family, indexed: indexedReaders(resource), clock, log });
  }

  /** The newest state of one object, at least as new as every write acknowledged before the call. */
  get(name: ObjectName): MaybePromise<StoredObject | undefined> {
    // A request that began before the resource was replaced must not read the state of that time.
    const { shared, revisionReportsProgress } = this.store.capabilities;
    if (this.cache.isClosed) return this.#getFromStore(this.keyOf(name));
    if (!shared) return this.getCached(name);
    return revisionReportsProgress === true ? this.#getFresh(name) : this.#getFromStore(this.keyOf(name));
  }

  /** The cached state, at least as new as every write acknowledged before the call. */
  async #getFresh(name: ObjectName): Promise<StoredObject | undefined> {
    await this.cache.load();
    const revision = await this.cache.freshRevision();
    return revision === undefined ? this.#getFromStore(this.keyOf(name)) : this.cache.get(this.keyOf(name));
  }

  /** The cached state, which may be a little old on a shared store. Hot path: there is a promise only while the cache is loaded. */
  getCached(name: ObjectName): MaybePromise<StoredObject | undefined> {
    const { cache } = this;
    const key = this.keyOf(name);
    return cache.isLoaded ? cache.get(key) : cache.load().then(() => cache.get(key));
  }

  async #getFromStore(key: string): Promise<StoredObject | undefined> {
    const entry = await translated(() => this.store.get(key));
    return entry === undefined ? undefined : this.fromEntry(entry);
  }

  create(name: ObjectName, object: StoredObject, options: WriteOptions): Promise<WriteResult> {
    return this.#put(name, object, { is: "absent" }, options);
  }

  /** Only if it is still at `previous`. */
  update(name: ObjectName, object: StoredObject, previous: StoredObject, options: WriteOptions): Promise<WriteResult> {
    return this.#put(name, object, stillAt(previous), options);
  }

  async #put(name: ObjectName, object: StoredObject, precondition: Precondition, options: WriteOptions): Promise<WriteResult> {
    const { signal, alongside = [] } = options;
    const result = await this.#commit([this.putOperation(name, object, precondition), ...alongside], signal);
    if (result.committed) object.arriveAt(result.revision);
    return this.#resultOf(result);
  }

  /** For a commit together with another object. */
  putOperation(name: ObjectName, object: StoredObject, precondition: Precondition): Operation {
    const { secondsToLive } = this.resource;
    const expiry = secondsToLive === undefined ? {} : { expiresAtMs: this.#clock.now() + secondsToLive * 1_000 };
    const { durable, shared } = this.store.capabilities;
    const value = object.value({ asBytes: durable || shared });
    return { type: "put", key: this.keyOf(name), value, precondition, ...expiry };
  }

  /** Only if it is still at `previous`. Returns the revision of the deletion. */
  async delete(
    name: ObjectName,
    previous: StoredObject,
    { signal, alongside = [] }: WriteOptions,
  ): Promise<{ readonly written: true; readonly revision: number } | Extract<WriteResult, { written: false }>> {
    const result = await this.#commit([this.deleteOperation(name, previous), ...alongside], signal);
    if (result.committed) return { written: true, revision: result.revision };
    return this.#resultOf(result) as Extract<WriteResult, { written: false }>;
  }

  deleteOperation(name: ObjectName, previous: StoredObject): Operation {
    return { type: "delete", key: this.keyOf(name), precondition: { is: "at", revision: previous.revision } };
  }

  keyOf(name: ObjectName): string {
    return objectKey(this.prefix, name);
  }

  #commit(operations: readonly Operation[], signal: CancelSignal | undefined): Promise<CommitResult> {
    return translated(() => this.store.commit(operations, signal === undefined ? {} : { signal }));
  }

  #resultOf(result: CommitResult): WriteResult {
    if (result.committed) return { written: true };
    const own = result.failed.find(({ operation }) => operation === 0);
    if (own === undefined) return { written: false, found: undefined, again: true };
    const { found } = own;
    return { written: false, found: found === undefined ? undefined : SharedObject.of(this.family, found) };
  }

  /**
   * Rejects with the store's "Compacted" if its history no longer reaches back to `revision`, and then releases the pages held in memory
   * for revisions up to it. Reads one small key: the answer is about the revision, not about the value.
   */
  async checkKept(revision: number): Promise<void> {
    try {
      await this.store.get(COMPACTION_KEY, { revision });
    } catch (error) {
      if (isStoreError(error, "Compacted")) this.#releaseSnapshots(revision);
      throw error;
    }
  }

  #releaseSnapshots(through: number): void {
    for (const revision of Array.from(this.pagedSnapshots.entries(), ([each]) => each))
      if (revision <= through) this.pagedSnapshots.delete(revision);
  }

  /** The orders of all objects of a namespace; "" for all of them. */
  rangeOf(namespace: string): { readonly from: string; readonly before?: string } {
    return rangeOf(namespacePrefix(this.prefix, namespace));
  }

  nameOf(key: string): ObjectName {
    return objectName(this.prefix, key);
  }

  emptySnapshot(): Snapshot {
    return new SortedMap();
  }

  /** The object of an entry; the cache's own if it is the same. */
  fromEntry(entry: Entry): StoredObject {
    const cached = this.cache.get(entry.key);
    return cached?.revision === entry.revision ? cached : SharedObject.of(this.family, entry);
  }

  newObject(object: KubeObject, managed: ManagedFields, revision?: number): StoredObject {
    return SharedObject.fromObject(this.family, object, managed, revision);
  }

  read(entry: Pick<Entry, "key" | "value" | "revision">): StoredObject {
    return SharedObject.of(this.family, entry);
  }

  close(): void {
    this.cache.close();
  }
}

/** With the value, so that the store need not read it again for watches; without the bytes of an object that was completed when it was read. */
function stillAt(previous: StoredObject): Extract<Precondition, { readonly is: "at" }> {
  const { revision, isOutdated } = previous;
  return isOutdated ? { is: "at", revision } : { is: "at", revision, value: previous.value({ asBytes: false }) };
}

function indexedReaders({ indexedFields = [], selectableFields }: Resource): FieldReaders {
  const wanted = Object.entries(selectableFields).filter(([path]) => indexedFields.includes(path));
  return Object.fromEntries(wanted);
}
