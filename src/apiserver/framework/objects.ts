/**
 * Objects of other kinds, for parts of the server that decide by them: authorizers, admission plugins, authenticators. Reading them is
 * looking into memory; what was followed is told of every change in the order of the changes, before the write is answered where this
 * process owns the store, and a moment later where it shares one.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Endpoints } from "./endpoints.ts";
import { namespacePrefix, type ObjectName } from "../storage/object-key.ts";
import { translated } from "../storage/store-failure.ts";
import type { ResourceStorage } from "../storage/resource-storage.ts";
import type { ObjectChange } from "../storage/watch-index.ts";
import type { CacheListener } from "../storage/object-cache.ts";

/** A kind, in its storage version. */
export interface KindName {
  readonly group: string;
  readonly plural: string;
}

export interface Follower {
  /** Something is there, or is other than it was. `previous` is absent if it is new to the follower. */
  put(object: KubeObject, previous: KubeObject | undefined): void;
  gone(object: KubeObject): void;
  /** Everything that was told is forgotten: all that is there now is told anew. */
  reset(): void;
}

export class Objects {
  readonly #endpoints: Endpoints;

  /** By the constant that names the kind. */
  #storages = new WeakMap<KindName, ResourceStorage>();

  constructor(endpoints: Endpoints) {
    this.#endpoints = endpoints;
    endpoints.onChange(() => (this.#storages = new WeakMap()));
  }

  /** What memory has, or else the store, of which memory may be a moment behind. undefined: there is none. */
  async get<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined> {
    const storage = this.#storage(kind);
    const found = (await storage.getCached(name)) ?? (await storage.get(name));
    return found?.object as T | undefined;
  }

  /** At least as new as every write that was answered before. */
  async getExact<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined> {
    return (await this.#storage(kind).get(name))?.object as T | undefined;
  }

  /** What memory has, at once; undefined also if it has not been read yet: `follow` or `load` first. */
  cached<T = KubeObject>(kind: KindName, name: ObjectName): T | undefined {
    const storage = this.#storage(kind);
    return storage.cache.get(storage.keyOf(name))?.object as T | undefined;
  }

  load(kind: KindName): Promise<void> {
    return this.#storage(kind).cache.load();
  }

  /** All of a namespace ("" for all there are), by name, as memory has them. */
  async list<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]> {
    const storage = this.#storage(kind);
    await storage.cache.load();
    return allOf<T>(storage, namespace);
  }

  /** The same, at least as new as every write that was answered before. */
  async listExact<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]> {
    const storage = this.#storage(kind);
    await storage.cache.load();
    if ((await storage.cache.freshRevision()) !== undefined) return allOf<T>(storage, namespace);
    // A store that cannot say how far memory has come is asked itself.
    const { entries } = await translated(() => storage.store.list(namespacePrefix(storage.prefix, namespace), { countRemaining: false }));
    return entries.map((entry) => storage.fromEntry(entry).object as T);
  }

  /**
   * The revision since which nothing of the kind has changed anywhere; memory is then at least as new as every write that was answered
   * before. undefined: nobody can tell.
   */
  async lastChange(kind: KindName): Promise<number | undefined> {
    const { cache } = this.#storage(kind);
    await cache.load();
    const reached = await cache.freshRevision();
    return reached === undefined || !cache.isLoaded ? undefined : cache.lastChange;
  }

  /** Tells of all that is there, then resolves; and from then on of each change, as long as the server lives. */
  async follow(kind: KindName, follower: Follower): Promise<void> {
    const { cache } = this.#storage(kind);
    await cache.load();
    follower.reset();
    for (const [, stored] of cache.snapshot().entries()) follower.put(stored.object, undefined);
    const listener: CacheListener = {
      scope: { namespace: "" },
      changed: (change) => tell(follower, change),
      ended: () => {
        cache.leave(listener);
        // The cache is read anew by itself; if that fails for good, the server is closing.
        void this.follow(kind, follower).catch(() => undefined);
      },
    };
    cache.join(listener);
  }

  #storage(kind: KindName): ResourceStorage {
    const known = this.#storages.get(kind);
    if (known !== undefined) return known;
    const { group, plural } = kind;
    const storage = this.#endpoints.stored(group, plural)?.storage;
    if (storage === undefined) throw new Error(`Cannot look at ${plural} of "${group}": they are not served`);
    this.#storages.set(kind, storage);
    return storage;
  }
}

function allOf<T>(storage: ResourceStorage, namespace: string): readonly T[] {
  const snapshot = storage.cache.snapshot();
  const { from, before } = storage.rangeOf(namespace);
  return [...snapshot.entries({ from, ...(before === undefined ? {} : { before }) })].map(([, { object }]) => object as T);
}

function tell(follower: Follower, { type, object, previous }: ObjectChange): void {
  if (type === "put") follower.put(object.object, previous?.object);
  else follower.gone(object.object);
}
