/**
 * What ownership means for one object, from the object alone: which of its references hold an owner back, what it waits for before it
 * goes, how what it owns is treated when it is deleted, and the patches that change its references. All of it is pure.
 */
import type { Json, JsonObject, KubeObject, OwnerReference } from "../../api/machinery/object.ts";
import type { DeleteOptions } from "../../client/client.ts";

/** On an object that is going: it stays until nothing names it as an owner any more. */
export const ORPHAN_FINALIZER = "orphan";
/** On an object that is going: it stays until everything that holds it back is deleted. */
export const FOREGROUND_FINALIZER = "foregroundDeletion";

export function uidOf({ metadata }: KubeObject): string {
  return metadata.uid ?? "";
}

export function ownersOf({ metadata }: KubeObject): readonly OwnerReference[] {
  return metadata.ownerReferences ?? [];
}

export function isGoing({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

export function hasFinalizer({ metadata }: KubeObject, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** Whether it is going as soon as what it owns is gone. */
export function isWaitingForDependents(object: KubeObject): boolean {
  return isGoing(object) && hasFinalizer(object, FOREGROUND_FINALIZER);
}

export function isBlocking({ blockOwnerDeletion }: OwnerReference): boolean {
  return blockOwnerDeletion === true;
}

/** Whether this owner, once it waits for its dependents, waits for this object. */
export function blocks(dependent: KubeObject, ownerUid: string): boolean {
  return ownersOf(dependent).some((reference) => reference.uid === ownerUid && isBlocking(reference));
}

/** What happens to what it owns: as it was asked for before, otherwise it is collected by and by. */
export function propagationOf(object: KubeObject): NonNullable<DeleteOptions["propagationPolicy"]> {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return "Orphan";
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? "Foreground" : "Background";
}

/** The same change of references in two forms: not every kind knows which items of a list belong together (custom resources do not). */
export interface ReferencesPatch {
  /** Changes these references and leaves those alone that somebody else adds meanwhile. */
  readonly strategic: JsonObject;
  /** Writes the whole list, if nobody has written meanwhile. */
  readonly merge: JsonObject;
}

/** Takes away the references to these owners. */
export function withoutOwners(object: KubeObject, uids: ReadonlySet<string>): ReferencesPatch {
  const kept = ownersOf(object).filter(({ uid }) => !uids.has(uid));
  return referencesPatch(object, { changed: Array.from(uids, (uid) => ({ $patch: "delete", uid })), all: kept.map(asJson) });
}

/** Nobody waits for it any more. */
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
    // The uid is not changed by it: it makes sure that it is still this object.
    strategic: { metadata: { uid, ownerReferences: changed } },
    merge: { metadata: { uid, resourceVersion, ownerReferences: all } },
  };
}

function asJson(reference: OwnerReference): Json {
  return { ...reference };
}
