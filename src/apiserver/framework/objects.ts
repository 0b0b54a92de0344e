/**
 * Objects of other kinds, for plugins that decide by them: authorizers, admission plugins, authenticators. Reads are memory lookups; a
 * follower is called with every change, in order. The engine implements it (apiserver/storage/cached-objects.ts).
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ObjectName } from "./storage/object-key.ts";

/** A kind, in its storage version. */
export interface KindName {
  readonly group: string;
  readonly plural: string;
}

export interface Follower {
  /** The object was created or changed. `previous` is absent if the follower did not know it. */
  put(object: KubeObject, previous: KubeObject | undefined): void;
  remove(object: KubeObject): void;
  /** Everything put so far is void: all present objects are put again. */
  reset(): void;
}

export interface Objects {
  /** From memory, or from the store if memory has none: memory may lag behind it. undefined: it does not exist. */
  get<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined>;
  /** At least as new as every write that was answered before. */
  getExact<T = KubeObject>(kind: KindName, name: ObjectName): Promise<T | undefined>;
  /** From memory, synchronously; undefined also if the kind is not loaded yet: call `follow` or `load` first. */
  cached<T = KubeObject>(kind: KindName, name: ObjectName): T | undefined;
  load(kind: KindName): Promise<void>;
  /** All objects of a namespace ("" for all), by name, from memory. */
  list<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]>;
  /** The same, at least as new as every write that was answered before. */
  listExact<T = KubeObject>(kind: KindName, namespace: string): Promise<readonly T[]>;
  /**
   * The revision of the kind's newest change; memory is then at least as new as every write that was acknowledged before. undefined: the
   * store does not report it.
   */
  lastChange(kind: KindName): Promise<number | undefined>;
  /** Puts all present objects, then resolves; then calls with each change until the server closes. */
  follow(kind: KindName, follower: Follower): Promise<void>;
}
