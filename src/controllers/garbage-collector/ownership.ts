/**
 * Ownership of one object, from the object alone: which of its references block an owner, what it waits for before it is removed, how its
 * dependents are treated, and the patches of its references. Pure.
 */
import type { Json, JsonObject, KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import type { DeleteOptions } from "../../client/client.ts";

/** Finalizer: the object stays until no reference names it as owner. */
export const ORPHAN_FINALIZER = "orphan";
/** Finalizer: the object stays until all blocking dependents are deleted. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";

export function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? "";
}

export function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  return metadata.ownerReferences ?? [];
}

export function isTerminating({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** Whether it is terminating and waits for its dependents. */
export function isWaitingForDependents(object: KubeObject): boolean {
  return isTerminating(object) && hasFinalizer(object, FOREGROUND_FINALIZER);
}

export function isBlocking({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true;
}

/** Whether this owner, in foreground deletion, waits for this object. */
export function blocks(dependent: KubeObject, ownerUid: string): boolean {
  return ownersOf(dependent).some((reference) => reference.uid === ownerUid && isBlocking(reference));
}

/** What happens to its dependents: as requested before, otherwise background deletion. */
export function propagationOf(object: KubeObject): NonNullable<DeleteOptions["propagationPolicy"]> {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return "Orphan";
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? "Foreground" : "Background";
}

/** The same change in two forms: not every kind supports merging list items (custom resources do not). */
export interface ReferencesPatch {
  /** Changes these references and keeps those added meanwhile. */
  readonly strategic: JsonObject;
  /** Replaces the whole list, with optimistic concurrency. */
  readonly merge: JsonObject;
}

/** Removes the references to these owners. */
export function withoutOwners(object: KubeObject, uids: ReadonlySet<string>): ReferencesPatch {
  const kept = ownersOf(object).filter(({ uid }) => !uids.has(uid));
  return referencesPatch(object, { changed: Array.from(uids, (uid) => ({ $patch: "delete", uid })), all: kept.map(asJson) });
}

/** No owner waits for it any more. */
export function withoutBlocking(object: KubeObject): ReferencesPatch {
  const unblocked = (reference: OwnerReference): Json => ({ ...reference, blockOwnerDeletion: false });
  const owners = ownersOf(object);
  return referencesPatch(object, { changed: owners.filter(isBlocking).map(unblocked), all: owners.map(unblocked) });
}

function referencesPatch(
  { metadata: { uid, resourceVersion } }: KubeObject,
  { changed, all }: { readonly changed: readonly Json[]; readonly all: readonly Json[] },
): ReferencesPatch {
  return {
    // The uid is a precondition.
    strategic: { metadata: { uid, ownerReferences: changed } },
    merge: { metadata: { uid, resourceVersion, ownerReferences: all } },
  };
}

function asJson(reference: OwnerReference): Json {
  return { ...reference };
}
