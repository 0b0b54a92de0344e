/**
 * A live read of a workload before its dependents are changed. Dependents are written at their own versions, so that nothing else would keep
 * a process with a stale template from rolling back to it, and from counting that as a revision.
 */
import type { KubeObject } from "../../api/machinery/object.ts";
import { conflict } from "../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

/** Rejects with a Conflict, which is retried, if the server has another object, or another generation of it. */
export async function mustBeCurrent<T extends KubeObject>(kind: ResourceKind<T>, object: T, { write }: Pass): Promise<void> {
  const { metadata: now } = await write.get(kind, keyOf(object));
  const { name, uid, generation, deletionTimestamp } = object.metadata;
  if (now.uid === uid && now.generation === generation && now.deletionTimestamp === deletionTimestamp) return;
  throw conflict({ group: kind.storage.group, plural: kind.plural }, name, "it was changed meanwhile");
}
