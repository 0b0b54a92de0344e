/**
 * The dependents of an owner, of all kinds. For a waiting owner every deletion asks whether a dependent still blocks it. With 10,000
 * dependents that must not cost 10,000 each time, so one blocking dependent is cached: as long as it exists, nothing else is scanned.
 * Losing the cache costs a scan and nothing more.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { Lru } from "../../base/lru.ts";
import type { ResourceKind } from "../../client/client.ts";
import { byOwner } from "../../client/informer/index.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { keyOf } from "../runtime/keys.ts";
import type { KindTable } from "./kind-table.ts";
import { blocks, uidOf } from "./ownership.ts";

/** Maximum number of concurrently waiting owners in the cache. */
const CACHED_MAX = 1_000;

export interface Dependent {
  readonly kind: ResourceKind;
  readonly object: KubeObject;
}

export class Dependents {
  readonly #read: Reader;
  readonly #kinds: KindTable;
  readonly #blocking = new Lru<string, Dependent>({ max: CACHED_MAX });

  constructor({ read, kinds }: { readonly read: Reader; readonly kinds: KindTable }) {
    this.#read = read;
    this.#kinds = kinds;
  }

  *of(ownerUid: string): Iterable<Dependent> {
    for (const kind of this.#kinds.followed) {
      for (const object of this.#read.indexed(byOwner(kind), ownerUid)) yield { kind, object };
    }
  }

  /** Kinds whose objects are unknown, since they cannot be listed, or not yet: any of them may be a dependent. */
  get unknownKinds(): readonly ResourceKind[] {
    return this.#kinds.followed.filter((kind) => !this.#read.knows(kind));
  }

  /** Also if unknown. */
  mayHaveAny(ownerUid: string): boolean {
    return this.#kinds.followed.some((kind) => !this.#read.knows(kind) || this.#read.indexed(byOwner(kind), ownerUid).length > 0);
  }

  /** Whether a dependent blocks the owner of this uid. */
  hasBlocking(ownerUid: string): boolean {
    const cached = this.#blocking.get(ownerUid);
    if (cached !== undefined && this.#isStillBlocking(cached, ownerUid)) return true;
    const found = this.#findBlocking(ownerUid);
    if (found === undefined) this.#blocking.delete(ownerUid);
    else this.#blocking.set(ownerUid, found);
    return found !== undefined;
  }

  #isStillBlocking({ kind, object }: Dependent, ownerUid: string): boolean {
    const now = this.#read.get(kind, keyOf(object));
    return now !== undefined && uidOf(now) === uidOf(object) && blocks(now, ownerUid);
  }

  /** The last of a kind: they are deleted in order, so that it stays the longest. */
  #findBlocking(ownerUid: string): Dependent | undefined {
    for (const kind of this.#kinds.followed) {
      const object = this.#read.indexed(byOwner(kind), ownerUid).findLast((dependent) => blocks(dependent, ownerUid));
      if (object !== undefined) return { kind, object };
    }
    return undefined;
  }
}
