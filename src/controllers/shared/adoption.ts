/**
 * Claims the objects of a controller: those that reference it as their controller, and matching orphans. It adopts the latter, and releases
 * those that its selector no longer matches, as upstream's controllers do. Nothing is taken from another controller, and a terminating
 * owner adopts and releases nothing.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { conflict, isReason } from "../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { controlledBy, keyOf } from "../runtime/keys.ts";
import { inTurns, together } from "../runtime/concurrent-writes.ts";

export interface ClaimOptions<O extends KubeObject, T extends KubeObject> {
  readonly owner: O;
  readonly ownerKind: ResourceKind<O>;
  /** Kind of the claimed objects. */
  readonly kind: ResourceKind<T>;
  readonly selector: LabelSelector;
  /** Additional condition for ownership besides the selector. Default: none. */
  belongs?(object: T): boolean;
  /** Objects that are skipped: neither adopted nor released nor returned. Default: none. */
  considers?(object: T): boolean;
  /** Added to an adopted object, and removed from a released one. Default: none. */
  readonly finalizers?: readonly string[];
  readonly pass: Pass;
}

/** Resolves with the owner's objects, ordered by name. */
export async function claim<O extends KubeObject, T extends KubeObject>(options: ClaimOptions<O, T>): Promise<readonly T[]> {
  const { owner, kind, pass } = options;
  const considered = (object: T): boolean => options.considers?.(object) ?? true;
  const controlled = pass.read.controlledBy(kind, owner).filter(considered);
  const kept = controlled.filter((object) => matches(object, options));
  if (owner.metadata.deletionTimestamp !== undefined) return kept;

  const strangers = kept.length === controlled.length ? [] : controlled.filter((object) => !matches(object, options));
  const orphans = pass.read
    .uncontrolled(kind, owner.metadata.namespace ?? "")
    .filter((object) => object.metadata.deletionTimestamp === undefined && considered(object) && matches(object, options));
  if (strangers.length === 0 && orphans.length === 0) return kept;

  const [, adopted] = await together([releaseAll(strangers, options), adoptAll(orphans, options)]);
  return [...kept, ...(adopted ?? [])].sort(byName);
}

function matches<O extends KubeObject, T extends KubeObject>(object: T, { selector, belongs }: ClaimOptions<O, T>): boolean {
  return selector.matches(object.metadata.labels) && (belongs?.(object) ?? true);
}

function byName(a: KubeObject, b: KubeObject): number {
  return a.metadata.name < b.metadata.name ? -1 : Number(a.metadata.name > b.metadata.name);
}

async function adoptAll<O extends KubeObject, T extends KubeObject>(
  objects: readonly T[],
  options: ClaimOptions<O, T>,
): Promise<readonly T[]> {
  if (objects.length === 0) return [];
  await mustStillBeThere(options);
  const adopted = await inTurns(objects, (object) => adopt(object, options));
  return adopted.filter((object) => object !== undefined);
}

/** A live read: an owner that was just deleted must not adopt what its deletion has released. */
async function mustStillBeThere<O extends KubeObject>({
  owner,
  ownerKind,
  pass,
}: Pick<ClaimOptions<O, KubeObject>, "owner" | "ownerKind" | "pass">): Promise<void> {
  const fresh = await pass.write.get(ownerKind, keyOf(owner));
  const named = { group: ownerKind.storage.group, plural: ownerKind.plural };
  // Races: the next reconciliation observes the result.
  if (fresh.metadata.uid !== owner.metadata.uid) throw conflict(named, owner.metadata.name, "it is another one by now");
  if (fresh.metadata.deletionTimestamp !== undefined) throw conflict(named, owner.metadata.name, "it has just been deleted");
}

/** Undefined if it was deleted. */
async function adopt<O extends KubeObject, T extends KubeObject>(
  object: T,
  { owner, kind, pass, finalizers }: ClaimOptions<O, T>,
): Promise<T | undefined> {
  // The server rejects it if the object was replaced, or has another controller now.
  const held = finalizers === undefined ? {} : { finalizers };
  const value = { metadata: { uid: object.metadata.uid, ownerReferences: [{ ...controlledBy(owner) }], ...held } };
  try {
    return await pass.write.patch(kind, keyOf(object), { type: "strategic", value });
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

async function releaseAll<O extends KubeObject, T extends KubeObject>(
  objects: readonly T[],
  options: ClaimOptions<O, T>,
): Promise<readonly T[]> {
  await inTurns(objects, (object) => release(object, options));
  return [];
}

async function release<O extends KubeObject, T extends KubeObject>(
  object: T,
  { owner, kind, pass, finalizers }: ClaimOptions<O, T>,
): Promise<void> {
  const held = finalizers === undefined ? {} : { "$deleteFromPrimitiveList/finalizers": finalizers };
  const value = { metadata: { uid: object.metadata.uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }], ...held } };
  try {
    await pass.write.patch(kind, keyOf(object), { type: "strategic", value });
  } catch (error) {
    // Deleted or replaced: it does not belong to the owner either way.
    if (!isReason(error, "NotFound") && !isReason(error, "Invalid")) throw error;
  }
}
