/**
 * What is in use is not deleted: a finalizer holds it, which admission puts on when it is made, and which a controller takes off when it
 * is going and nobody uses it any more. One that is not going and lacks it (admission was off, or somebody took it away) gets it again.
 * Not here: what "in use" means. Each kind has a controller that knows.
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

/** It is going, and waits for whoever protects it. */
export function isHeld({ metadata }: KubeObject, { finalizer }: Pick<Protection, "finalizer">): boolean {
  return metadata.deletionTimestamp !== undefined && metadata.finalizers?.includes(finalizer) === true;
}

/** It is not going, and nobody would wait for whoever uses it if it were. */
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
  /** Asked of the server before it is let go, for what the informers have not heard of yet. Default: it says itself whether it is used. */
  isUsedUnheard?(object: T, write: Client): Promise<boolean>;
}

/** Informers that lag behind have heard of whoever uses it by then. */
const UNHEARD_USER_DELAY_MS = 1_000;

/** One pass over one object of a kind of which the informers can tell whether it is used. */
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
