/**
 * Objects read from the caches of their resources. A follower is called with each change in order: before the write is answered where
 * this process owns the store, shortly after it where several processes share one.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Endpoints } from "../framework/endpoints.ts";
import type { Follower, KindName, Objects } from "../framework/objects.ts";
import { namespacePrefix, type ObjectName } from "../framework/storage/object-key.ts";
import type { CacheListener, ObjectChange, ResourceStorage } from "../framework/storage/storage.ts";
import { translated } from "../framework/storage/store-failure.ts";

export class CachedObjects implements Objects {
  readonly #endpoints: Endpoints;

  /** By the constant that names the kind. Emptied when the set of endpoints changes. */
  #storages = new WeakMap<KindName, ResourceStorage>();

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
    endpoints.onChange(() => (this.#storages = new WeakMap()));
  }

  async get<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined> {
    const storage = this.#storage(kind);
    const found = (await storage.getCached(name)) ?? (await storage.get(name));
    return found?.object as T | undefined;
  }

  async getExact<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined> {
    return (await this.#storage(kind).get(name))?.object as T | undefined;
  }

  cached<T = KubeObject>(kind: KindName, name: ObjectName): T | undefined {
    const storage = this.#storage(kind);
    return storage.cache.get(storage.keyOf(name))?.object as T | undefined;
  }

  load(kind: KindName): Promise<void> {
    return this.#storage(kind).cache.load();
  }

  async list<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]> {
    const storage = this.#storage(kind);
    await storage.cache.load();
    return allOf<T>(storage, namespace);
  }

  async listExact<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]> {
    const storage = this.#storage(kind);
    await storage.cache.load();
    if ((await storage.cache.freshRevision()) !== undefined) return allOf<T>(storage, namespace);
    // A store that does not report progress is read directly.
    const { entries } = await translated(() => storage.store.list(namespacePrefix(storage.prefix, namespace), { countRemaining: false }));
    return entries.map((entry) => storage.fromEntry(entry).object as T);
  }

  async lastChange(kind: KindName): Promise<number | undefined> {
    const { cache } = this.#storage(kind);
    await cache.load();
    const reached = await cache.freshRevision();
    return reached === undefined || !cache.isLoaded ? undefined : cache.lastChange;
  }

  async follow(kind: KindName, follower: Follower): Promise<void> {
    const storage = this.#storage(kind);
    const { cache } = storage;
    await cache.load().catch((error: unknown) => {
      if (!cache.isClosed) throw error;
    });
    if (cache.isClosed) return this.#followNext(storage, kind, follower);
    follower.reset();
    for (const [, stored] of cache.snapshot().entries()) follower.put(stored.object, undefined);
    const listener: CacheListener = {
      scope: { namespace: "" },
      changed: (change) => notify(follower, change),
      ended: () => {
        cache.leave(listener);
        // The cache reloads by itself; if that fails for good, the resource was removed or the server is closing.
        void this.follow(kind, follower).catch(() => undefined);
      },
    };
    cache.join(listener);
  }

  /** Follows the resource that replaced a custom resource; nothing follows when the server stops. */
  async #followNext(closed: ResourceStorage, kind: KindName, follower: Follower): Promise<void> {
    if (this.#endpoints.stored(kind.group, kind.plural)?.storage !== closed) await this.follow(kind, follower);
  }

  #storage(kind: KindName): ResourceStorage {
    const known = this.#storages.get(kind);
    if (known !== undefined) return known;
    const { group, plural } = kind;
    const storage = this.#endpoints.stored(group, plural)?.storage;
    if (storage === undefined) throw new Error(`Cannot read ${plural} of group "${group}": the resource is not served`);
    this.#storages.set(kind, storage);
    return storage;
  }
}

function allOf<T>(storage: ResourceStorage, namespace: string): readonly T[] {
  const snapshot = storage.cache.snapshot();
  const { from, before } = storage.rangeOf(namespace);
  return [...snapshot.entries({ from, ...(before === undefined ? {} : { before }) })].map(([, { object }]) => object as T);
}

function notify(follower: Follower, { type, object, previous }: ObjectChange): void {
  if (type === "put") follower.put(object.object, previous?.object);
  else follower.remove(object.object);
}
