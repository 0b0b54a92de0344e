/**
 * What the collector looks at when something changes. A key names one of three things:
 * - an object ("pods default/a"), whose owners or whose finalizers are to be looked at,
 * - everything that an owner of this uid owns ("* 1234-…"), when the owner has gone or has begun to wait,
 * - an owner as a reference names it ("apps/v1/ReplicaSet default/a"), when something no longer holds it back.
 * The last two are only passed on to objects, since which kinds there are is known to a pass and not here.
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
  isGoing,
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
  // Of a stretch that was not seen, one of the same name may be told as an update.
  const isAnother = previous !== undefined && uidOf(previous) !== uidOf(object);
  if (previous !== undefined && isAnother) yield* keysOfGone(previous);
  const before = isAnother ? undefined : previous;
  if (before === object) return;

  if (mustBeLookedAt(object, before)) yield objectKey(kind, object);
  if (isWaitingForDependents(object) && (before === undefined || !isWaitingForDependents(before))) yield dependentsKey(object);
  if (before !== undefined) for (const reference of releasedOwners(object, before)) yield ownerKey(reference, object);
}

/** What it owned has lost an owner, and an owner that waited for it may go. */
function* keysOfGone(object: KubeObject): Iterable<WorkKey> {
  yield dependentsKey(object);
  for (const reference of ownersOf(object)) if (isBlocking(reference)) yield ownerKey(reference, object);
}

/** Whether a pass over it can come to another end than before. */
function mustBeLookedAt(object: KubeObject, before: KubeObject | undefined): boolean {
  const isKeptByUs = hasFinalizer(object, ORPHAN_FINALIZER) || hasFinalizer(object, FOREGROUND_FINALIZER);
  if (isGoing(object) ? !isKeptByUs : ownersOf(object).length === 0) return false;
  if (before === undefined || isGoing(object) !== isGoing(before)) return true;
  if (!deepEqual(object.metadata.ownerReferences, before.metadata.ownerReferences)) return true;
  return isGoing(object) && !deepEqual(object.metadata.finalizers, before.metadata.finalizers);
}

/** The owners that the object held back before and does not any more. */
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

/** An owner of the cluster has no namespace; until its kind is known it is not known whether this is one. */
function ownerKey({ apiVersion, kind, name }: OwnerReference, { metadata: { namespace } }: KubeObject): WorkKey {
  return { kind: `${apiVersion}/${kind}`, ...(namespace === undefined ? {} : { namespace }), name };
}
