/**
 * Writes of the garbage collector, always to the object that it examined: each carries the uid as precondition, and a deletion also the
 * resourceVersion of the decision; the server rejects it if the object has been replaced.
 */
import type { JsonObject, KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import { deepEqual } from "../../base/deep.ts";
import type { Client, DeleteOptions } from "../../client/client.ts";
import { keyOf } from "../runtime/keys.ts";
import type { Dependent } from "./dependents.ts";
import { uidOf, type ReferencesPatch } from "./ownership.ts";

type Propagation = NonNullable<DeleteOptions["propagationPolicy"]>;

/** Rejects with Conflict if its owners changed meanwhile: then the decision is repeated. */
export async function deleteObject(write: Client, { kind, object }: Dependent, propagationPolicy: Propagation): Promise<void> {
  const key = keyOf(object);
  const preconditions = { uid: uidOf(object), ...versionOf(object) };
  try {
    await write.delete(kind, key, { propagationPolicy, preconditions });
  } catch (error) {
    if (isReason(error, "NotFound")) return;
    if (!isReason(error, "Conflict")) throw error;
    const live = await fetchIfThere(write, { kind, object });
    if (live === undefined || uidOf(live) !== uidOf(object)) return; // Already deleted.
    if (!deepEqual(live.metadata.ownerReferences, object.metadata.ownerReferences)) throw error;
    // Frequent foreign writes, such as status updates, must not keep it alive.
    await write.delete(kind, key, { propagationPolicy, preconditions: { uid: uidOf(object) } });
  }
}

/** Resolves with what it is then. */
export async function patchReferences(write: Client, { kind, object }: Dependent, patch: ReferencesPatch): Promise<KubeObject> {
  try {
    return await write.patch(kind, keyOf(object), { type: "strategic", value: patch.strategic });
  } catch (error) {
    if (!isReason(error, "UnsupportedMediaType")) throw error;
    return write.patch(kind, keyOf(object), { type: "merge", value: patch.merge });
  }
}

/** Afterwards the object is removed, unless other finalizers remain. */
export async function removeFinalizer(write: Client, { kind, object }: Dependent, finalizer: string): Promise<void> {
  const finalizers = object.metadata.finalizers?.filter((name) => name !== finalizer) ?? [];
  const value: JsonObject = { metadata: { uid: uidOf(object), ...versionOf(object), finalizers } };
  try {
    await write.patch(kind, keyOf(object), { type: "merge", value });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}

async function fetchIfThere(write: Client, { kind, object }: Dependent): Promise<KubeObject | undefined> {
  try {
    return await write.get(kind, keyOf(object));
  } catch (error) {
    if (isReason(error, "NotFound")) return undefined;
    throw error;
  }
}

function versionOf({ metadata: { resourceVersion } }: KubeObject): { readonly resourceVersion?: string } {
  return resourceVersion === undefined ? {} : { resourceVersion };
}
