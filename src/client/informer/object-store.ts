/**
 * The objects of one informer, by namespace and name and by its indexes. A list is built on request and cached until something in it
 * changes, so that repeated reads are free; a returned list never changes. Reading one namespace or one index value does not touch the
 * others. Not here: the source of the objects, and handlers.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { SortedMap } from "../../base/sorted-map.ts";
import type { ObjectKey } from "../client.ts";
import type { Index } from "./informer.ts";

export interface ObjectStoreOptions {
  /** Called when an index function throws for an object, which is then missing from that index. */
  onIndexFailure(error: unknown): void;
}

export class ObjectStore<T extends KubeObject> {
  readonly #options: ObjectStoreOptions;
  /** By namespace; cluster-scoped objects are in "". None is empty. */
  readonly #namespaces = new SortedMap<string, Bucket<T>>();
  readonly #indexes = new Map<Index<T>, IndexTable<T>>();
  /** All objects, cached since the last change. */
  #all: readonly T[] | undefined = [];

  constructor(options: ObjectStoreOptions) {
    this.#options = options;
  }

  get({ namespace = "", name }: ObjectKey): T | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  /** Ordered by namespace and name. */
  list(namespace?: string): readonly T[] {
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.list() ?? [];
    this.#all ??= [...this.#namespaces.entries()].flatMap(([, bucket]) => bucket.list());
    return this.#all;
  }

  indexed(index: Index<T>, value: string): readonly T[] {
    let table = this.#indexes.get(index);
    if (table === undefined) {
      table = new IndexTable(index, this.#options);
      for (const object of this.list()) table.change(undefined, object);
      this.#indexes.set(index, table);
    }
    return table.get(value);
  }

  /** Replaces the object of the same name, which is returned. */
  put(object: T): T | undefined {
    const { namespace = "", name } = object.metadata;
    let bucket = this.#namespaces.get(namespace);
    if (bucket === undefined) this.#namespaces.set(namespace, (bucket = new Bucket()));
    const previous = bucket.get(name);
    bucket.set(name, object);
    this.#changed(previous, object);
    return previous;
  }

  /** Returns the removed object. */
  delete({ namespace = "", name }: ObjectKey): T | undefined {
    const bucket = this.#namespaces.get(namespace);
    const previous = bucket?.get(name);
    if (bucket === undefined || previous === undefined) return undefined;
    bucket.delete(name);
    if (bucket.size === 0) this.#namespaces.delete(namespace);
    this.#changed(previous, undefined);
    return previous;
  }

  #changed(previous: T | undefined, object: T | undefined): void {
    this.#all = undefined;
    for (const table of this.#indexes.values()) table.change(previous, object);
  }
}

/** Below every character of a namespace, so that keys sort by namespace first: "a" with all of its names comes before "a-b". */
const AFTER_NAMESPACE = "\u0000";

/** Negative, positive or 0, as `list` has them. */
export function compareObjects(a: KubeObject, b: KubeObject): number {
  const [one, other] = [orderOf(a), orderOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

export function orderOf({ metadata: { namespace = "", name } }: { readonly metadata: ObjectKey }): string {
  return namespace + AFTER_NAMESPACE + name;
}

/** Sorted objects. */
class Bucket<T extends KubeObject> {
  readonly #objects = new SortedMap<string, T>();
  #listed: readonly T[] | undefined;

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  set(key: string, object: T): void {
    this.#listed = undefined;
    this.#objects.set(key, object);
  }

  delete(key: string): void {
    this.#listed = undefined;
    this.#objects.delete(key);
  }

  list(): readonly T[] {
    if (this.#listed !== undefined) return this.#listed;
    const listed: T[] = [];
    this.#objects.forEach((_key, object) => void listed.push(object));
    this.#listed = listed;
    return listed;
  }
}

/** Objects by the values that one index gives them. */
class IndexTable<T extends KubeObject> {
  readonly #index: Index<T>;
  readonly #options: ObjectStoreOptions;
  /** None is empty. */
  readonly #buckets = new Map<string, Bucket<T>>();

  constructor(index: Index<T>, options: ObjectStoreOptions) {
    this.#index = index;
    this.#options = options;
  }

  get(value: string): readonly T[] {
    return this.#buckets.get(value)?.list() ?? [];
  }

  /** Objects are immutable, so that the index function returns the same values again for the previous one. */
  change(previous: T | undefined, object: T | undefined): void {
    const now = object === undefined ? NO_VALUES : this.#valuesOf(object);
    if (previous !== undefined) {
      for (const value of this.#valuesOf(previous)) if (!now.has(value)) this.#drop(value, orderOf(previous));
    }
    if (object !== undefined) for (const value of now) this.#put(value, object);
  }

  #put(value: string, object: T): void {
    let bucket = this.#buckets.get(value);
    if (bucket === undefined) this.#buckets.set(value, (bucket = new Bucket()));
    bucket.set(orderOf(object), object);
  }

  #drop(value: string, order: string): void {
    const bucket = this.#buckets.get(value);
    bucket?.delete(order);
    if (bucket?.size === 0) this.#buckets.delete(value);
  }

  #valuesOf(object: T): ReadonlySet<string> {
    try {
      return new Set(this.#index.values(object));
    } catch (error) {
      this.#options.onIndexFailure(error);
      return NO_VALUES;
    }
  }
}

const NO_VALUES: ReadonlySet<string> = new Set();
