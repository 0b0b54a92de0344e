/**
 * Whether the owners of an object exist. Absence from an informer proves nothing: it may lag. An owner is absent only if the server itself
 * has said so, for this name and uid; as uids are never reused, that is permanent and cached, since many objects tend to lose the same
 * owner at once.
 */
import { apiVersionOf, parseApiVersion, type KubeObject, type OwnerReference } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { Lru } from "../../base/lru.ts";
import type { ObjectKey, ResourceKind } from "../../client/client.ts";
import { defineIndex } from "../../client/informer/index.ts";
import type { Index, Reader } from "../../client/informer/informer.ts";
import type { Pass } from "../runtime/controller.ts";
import type { KindTable } from "./kind-table.ts";
import { isBlocking, isWaitingForDependents, ownersOf, uidOf } from "./ownership.ts";

/** Upstream's cache size. */
const ABSENT_MAX = 500;

export interface OwnerVerdict {
  /** They exist, and stay or are terminating without waiting. */
  readonly solid: readonly OwnerReference[];
  readonly dangling: readonly OwnerReference[];
  /** They are terminating, waiting for their dependents. */
  readonly waiting: readonly OwnerReference[];
}

type OwnerState = keyof OwnerVerdict;

export class Owners {
  readonly #read: Reader;
  readonly #kinds: KindTable;
  readonly #absent = new Lru<string, true>({ max: ABSENT_MAX });
  readonly #byUid = new WeakMap<ResourceKind, Index>();

  constructor({ read, kinds }: { readonly read: Reader; readonly kinds: KindTable }) {
    this.#read = read;
    this.#kinds = kinds;
  }

  /**
   * Undefined if it can never be determined: a cluster-scoped object references a namespaced owner without its namespace. Rejects if it
   * cannot be determined now.
   */
  async judge(object: KubeObject, pass: Pass): Promise<OwnerVerdict | undefined> {
    const verdict = { solid: [] as OwnerReference[], dangling: [] as OwnerReference[], waiting: [] as OwnerReference[] };
    for (const reference of ownersOf(object)) {
      const state = await this.#stateOf(reference, object, pass);
      if (state === undefined) return undefined;
      verdict[state].push(reference);
    }
    return verdict;
  }

  /** Whether it waits for itself: it blocks an owner that blocks an owner … that it owns, and all of them wait. */
  waitsForItself(object: KubeObject): boolean {
    const seen = new Set<string>();
    const climbing: KubeObject[] = [object];
    for (let at = climbing.pop(); at !== undefined; at = climbing.pop()) {
      for (const reference of ownersOf(at).filter(isBlocking)) {
        if (reference.uid === uidOf(object)) return true;
        const owner = seen.has(reference.uid) ? undefined : this.#shown(reference, at);
        seen.add(reference.uid);
        if (owner !== undefined && isWaitingForDependents(owner)) climbing.push(owner);
      }
    }
    return false;
  }

  async #stateOf(reference: OwnerReference, object: KubeObject, pass: Pass): Promise<OwnerState | undefined> {
    const { namespace } = object.metadata;
    const shown = this.#shown(reference, object);
    if (shown !== undefined) return stateOfPresent(shown);
    if (this.#absent.has(absentKey(reference, undefined)) || this.#absent.has(absentKey(reference, namespace))) return "dangling";

    const kind = await this.#kindOf(reference, pass);
    if (kind.scope === "Namespaced" && namespace === undefined) {
      this.#reportElsewhere(reference, object, pass);
      return undefined;
    }
    const owner = await fetchOwner(kind, { namespace, name: reference.name }, pass);
    if (owner !== undefined && uidOf(owner) === reference.uid) return stateOfPresent(owner);
    this.#absent.set(absentKey(reference, kind.scope === "Cluster" ? undefined : namespace), true);
    this.#reportElsewhere(reference, object, pass);
    return "dangling";
  }

  /** The owner, if an informer shows it. */
  #shown(reference: OwnerReference, { metadata: { namespace } }: KubeObject): KubeObject | undefined {
    const kind = this.#followed(reference);
    if (kind === undefined || (kind.scope === "Namespaced" && namespace === undefined)) return undefined;
    const key = kind.scope === "Cluster" ? { name: reference.name } : { namespace, name: reference.name };
    const owner = this.#read.get(kind, key);
    return owner !== undefined && uidOf(owner) === reference.uid ? owner : undefined;
  }

  #followed({ apiVersion, kind }: OwnerReference): ResourceKind | undefined {
    const version = parseApiVersion(apiVersion);
    return version === undefined ? undefined : this.#kinds.followedAs({ group: version.group, kind });
  }

  /** In the version of the reference: that of another kind, once of this name, is no answer. */
  async #kindOf(reference: OwnerReference, { write }: Pass): Promise<ResourceKind> {
    const followed = this.#followed(reference);
    return followed !== undefined && apiVersionOf(followed.storage) === reference.apiVersion
      ? followed
      : this.#kinds.lookup(reference, write);
  }

  /** A reference cannot reach into another namespace. Its author does not know, and is about to lose the object. */
  #reportElsewhere(reference: OwnerReference, object: KubeObject, { events }: Pass): void {
    const kind = this.#followed(reference);
    if (kind === undefined || kind.scope === "Cluster") return;
    const { namespace = "" } = object.metadata;
    const owner = this.#read.indexed(this.#uidIndex(kind), reference.uid)[0];
    if (owner === undefined || owner.metadata.namespace === namespace) return;
    const { apiVersion, kind: kindText, name, uid } = reference;
    const identity = `[${apiVersion}/${kindText}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    const message = `ownerRef ${identity} does not exist in namespace ${JSON.stringify(namespace)}`;
    events.record(object, { type: "Warning", reason: "OwnerRefInvalidNamespace", message });
  }

  #uidIndex(kind: ResourceKind): Index {
    let index = this.#byUid.get(kind);
    if (index === undefined) this.#byUid.set(kind, (index = defineIndex(kind, (object) => [uidOf(object)])));
    return index;
  }
}

function stateOfPresent(owner: KubeObject): OwnerState {
  return isWaitingForDependents(owner) ? "waiting" : "solid";
}

/** Undefined if the server reports NotFound. That it does not know the kind or the version says nothing about the owner. */
async function fetchOwner(kind: ResourceKind, key: ObjectKey, { write }: Pass): Promise<KubeObject | undefined> {
  try {
    return await write.get(kind, key);
  } catch (error) {
    if (isReason(error, "NotFound") && error.details?.name === key.name) return undefined;
    throw error;
  }
}

function absentKey({ apiVersion, kind, name, uid }: OwnerReference, namespace: string | undefined): string {
  return `${uid} ${apiVersion}/${kind} ${namespace ?? ""}/${name}`;
}
