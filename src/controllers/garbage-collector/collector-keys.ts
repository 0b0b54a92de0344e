/**
 * The garbage collector's work-queue keys. A key names one of three things:
 * - an object ("pods default/a"), whose owners or finalizers are to be checked,
 * - all dependents of an owner's uid ("* 1234-…"), when the owner was deleted or started to wait,
 * - an owner as a reference names it ("apps/v1/ReplicaSet default/a"), when a dependent no longer blocks it. The last two are only expanded
 *   to objects, since the set of kinds is known to a reconciliation and not here.
 */
import { parseApiVersion, type KubeObject, type OwnerReference } from "../../api/machinery/object.ts";
import { deepEqual } from "../../base/deep.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Change, WorkKey } from "../runtime/controller.ts";
import { keyOf, kindName } from "../runtime/keys.ts";
import {
  FOREGROUND_FINALIZER,
  hasFinalizer,
  isBlocking,
  isTerminating,
  isWaitingForDependents,
  ORPHAN_FINALIZER,
  ownersOf,
  uidOf,
} from "./ownership.ts";

const ANY_KIND = "*";

export type Target =
  | { readonly is: "object"; readonly kind: string }
  | { readonly is: "dependents"; readonly ownerUid: string }
  | { readonly is: "owner"; readonly group: string; readonly kind: string };

export function targetOf({ kind = "", name }: WorkKey): Target {
  if (kind === ANY_KIND) return { is: "dependents", ownerUid: name };
  // No plural has a slash in it.
  const slash = kind.lastIndexOf("/");
  if (slash < 0) return { is: "object", kind };
  return { is: "owner", group: parseApiVersion(kind.slice(0, slash))?.group ?? "", kind: kind.slice(slash + 1) };
}

export function objectKey(kind: ResourceKind, object: KubeObject): WorkKey {
  return { kind: kindName(kind), ...keyOf(object) };
}

export function* collectorKeys({ is, object, previous }: Change, kind: ResourceKind): Iterable<WorkKey> {
  if (is === "deleted") return yield* keysOfGone(object);
  // After a gap, another object of the same name may arrive as an update.
  const isAnother = previous !== undefined && uidOf(previous) !== uidOf(object);
  if (previous !== undefined && isAnother) yield* keysOfGone(previous);
  const before = isAnother ? undefined : previous;
  if (before === object) return;

  if (mustBeLookedAt(object, before)) yield objectKey(kind, object);
  if (isWaitingForDependents(object) && (before === undefined || !isWaitingForDependents(before))) yield dependentsKey(object);
  if (before !== undefined) for (const reference of releasedOwners(object, before)) yield ownerKey(reference, object);
}

/** Its dependents have lost an owner, and an owner that waited for it may be deleted. */
function* keysOfGone(object: KubeObject): Iterable<WorkKey> {
  yield dependentsKey(object);
  for (const reference of ownersOf(object)) if (isBlocking(reference)) yield ownerKey(reference, object);
}

/** Whether a reconciliation can have another result than before. */
function mustBeLookedAt(object: KubeObject, before: KubeObject | undefined): boolean {
  const isKeptByUs = hasFinalizer(object, ORPHAN_FINALIZER) || hasFinalizer(object, FOREGROUND_FINALIZER);
  if (isTerminating(object) ? !isKeptByUs : ownersOf(object).length === 0) return false;
  if (before === undefined || isTerminating(object) !== isTerminating(before)) return true;
  if (!deepEqual(object.metadata.ownerReferences, before.metadata.ownerReferences)) return true;
  return isTerminating(object) && !deepEqual(object.metadata.finalizers, before.metadata.finalizers);
}

/** Owners that the object no longer blocks. */
function releasedOwners(object: KubeObject, before: KubeObject): readonly OwnerReference[] {
  if (object.metadata.ownerReferences === before.metadata.ownerReferences) return [];
  const held = new Set(
    ownersOf(object)
      .filter(isBlocking)
      .map(({ uid }) => uid),
  );
  return ownersOf(before).filter((reference) => isBlocking(reference) && !held.has(reference.uid));
}

function dependentsKey(owner: KubeObject): WorkKey {
  return { kind: ANY_KIND, name: uidOf(owner) };
}

/** A cluster-scoped owner has no namespace; until its kind is known its scope is unknown. */
function ownerKey({ apiVersion, kind, name }: OwnerReference, { metadata: { namespace } }: KubeObject): WorkKey {
  return { kind: `${apiVersion}/${kind}`, ...(namespace === undefined ? {} : { namespace }), name };
}
