/**
 * Protection of objects in use by a finalizer, which admission adds at creation, and a controller removes when the object is terminating
 * and unused. A live object without it (admission was off, or it was removed) gets it again. Not here: what "in use" means. Each kind has
 * its own controller.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import type { Client, ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { after, onChange, type KeysOf, type Outcome, type Pass, type WorkKey } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

/** How objects of one kind are protected. */
export interface Protection<T extends KubeObject = KubeObject> {
  readonly kind: ResourceKind<T>;
  readonly finalizer: string;
}

/** It is terminating with our finalizer. */
export function isHeld({ metadata }: KubeObject, { finalizer }: Pick<Protection, "finalizer">): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}

/** It is not terminating and lacks the finalizer. */
export function isUnprotected({ metadata }: KubeObject, { finalizer }: Pick<Protection, "finalizer">): boolean {
  return metadata.deletionTimestamp === undefined && metadata.finalizers?.includes(finalizer) !== true;
}

/** The object itself, if there is something to do. */
export function ifHeldOrUnprotected(protection: Pick<Protection, "finalizer">): KeysOf {
  return function* ({ is, object }) {
    if (is !== "deleted" && (isHeld(object, protection) || isUnprotected(object, protection))) yield keyOf(object);
  };
}

export async function putFinalizer<T extends KubeObject>({ kind, finalizer }: Protection<T>, object: T, write: Client): Promise<void> {
  await write.update(kind, withFinalizers(object, [...(object.metadata.finalizers ?? []), finalizer]));
}

export async function takeFinalizer<T extends KubeObject>({ kind, finalizer }: Protection<T>, object: T, write: Client): Promise<void> {
  await write.update(kind, withFinalizers(object, object.metadata.finalizers?.filter((name) => name !== finalizer) ?? []));
}

function withFinalizers<T extends KubeObject>(object: T, finalizers: readonly string[]): T {
  return { ...object, metadata: { ...object.metadata, finalizers } };
}

export interface ProtectionByMemory<T extends KubeObject> extends Protection<T> {
  /** As far as the informers know. */
  isUsed(object: T, read: Reader): boolean;
  /**
   * A live check before it is released, for users that the informers have not received. Default: the object itself shows whether it is
   * used.
   */
  isUsedUnheard?(object: T, write: Client): Promise<boolean>;
}

/** By then lagging informers have received its users. */
const UNHEARD_USER_DELAY_MS = 1_000;

/** Reconciles one object of a kind whose use the informers show. */
export async function keepProtected<T extends KubeObject>(
  protection: ProtectionByMemory<T>,
  key: WorkKey,
  { read, write }: Pass,
): Promise<Outcome> {
  const object = read.get(protection.kind, key);
  if (object === undefined) return onChange;
  if (isUnprotected(object, protection)) await putFinalizer(protection, object, write);
  if (!isHeld(object, protection) || protection.isUsed(object, read)) return onChange;
  if (await protection.isUsedUnheard?.(object, write)) return after(UNHEARD_USER_DELAY_MS);
  await takeFinalizer(protection, object, write);
  return onChange;
}
