/**
 * Which objects are a controller's: those that name it as their controller, and those that nobody controls and its selector matches. It
 * makes the latter its own, and lets go those that its selector no longer matches, as upstream's controllers do. Nothing is taken from
 * another controller, and an owner that is going takes and releases nothing.
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
  /** Of what is claimed. */
  readonly kind: ResourceKind<T>;
  readonly selector: LabelSelector;
  /** Beside what the selector says, what must be so for one to be the owner's. Default: nothing. */
  belongs?(object: T): boolean;
  /** Others are left as they are: neither adopted nor released nor told of. Default: all are looked at. */
  considers?(object: T): boolean;
  readonly pass: Pass;
}

/** Resolves with what is the owner's now, in the order of names. */
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

/** Asked of the server and not of the cache: one that was deleted a moment ago must not adopt what its deletion has just let go. */
async function mustStillBeThere<O extends KubeObject>({
  owner,
  ownerKind,
  pass,
}: Pick<ClaimOptions<O, KubeObject>, "owner" | "ownerKind" | "pass">): Promise<void> {
  const fresh = await pass.write.get(ownerKind, keyOf(owner));
  const named = { group: ownerKind.storage.group, plural: ownerKind.plural };
  // Races, and told as such: the next pass sees who is there.
  if (fresh.metadata.uid !== owner.metadata.uid) throw conflict(named, owner.metadata.name, "it is another one by now");
  if (fresh.metadata.deletionTimestamp !== undefined) throw conflict(named, owner.metadata.name, "it has just been deleted");
}

/** Undefined if it is gone. */
async function adopt<O extends KubeObject, T extends KubeObject>(
  object: T,
  { owner, kind, pass }: ClaimOptions<O, T>,
): Promise<T | undefined> {
  // The server refuses it if there is another of its name, or if somebody else has become its controller.
  const value = { metadata: { uid: object.metadata.uid, ownerReferences: [{ ...controlledBy(owner) }] } };
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

async function release<O extends KubeObject, T extends KubeObject>(object: T, { owner, kind, pass }: ClaimOptions<O, T>): Promise<void> {
  const value = { metadata: { uid: object.metadata.uid, ownerReferences: [{ $patch: "delete", uid: owner.metadata.uid }] } };
  try {
    await pass.write.patch(kind, keyOf(object), { type: "strategic", value });
  } catch (error) {
    // Gone, or another one of its name: it is not the owner's any more either way.
    if (!isReason(error, "NotFound") && !isReason(error, "Invalid")) throw error;
  }
}
