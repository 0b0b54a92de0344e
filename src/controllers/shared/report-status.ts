/** Writes the status of a workload. Whether it differs is decided by the caller. */
import type { KubeObject } from "../../api/machinery/object.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Pass } from "../runtime/controller.ts";
import { keyOf } from "../runtime/keys.ts";

/**
 * Others write the object too, mostly its spec: the status write is retried once, as upstream does, and then reconciled again. `keeps`
 * returns the fields of the status that others have written meanwhile; default: none.
 */
export async function reportStatus<T extends KubeObject & { readonly status?: unknown }>(
  kind: ResourceKind<T>,
  object: T,
  status: NonNullable<T["status"]>,
  { write }: Pass,
  keeps: (fresh: T) => Partial<NonNullable<T["status"]>> = () => ({}),
): Promise<void> {
  try {
    await write.updateStatus(kind, { ...object, status });
  } catch (error) {
    if (!isReason(error, "Conflict")) throw error;
    const fresh = await write.get(kind, keyOf(object));
    if (fresh.metadata.uid !== object.metadata.uid) throw error;
    await write.updateStatus(kind, { ...fresh, status: { ...status, ...keeps(fresh) } });
  }
}

/** For kinds whose conditions belong to other clients. */
export function conditionsOf<C>({ status }: { readonly status?: { readonly conditions?: C } }): { readonly conditions?: C } {
  return status?.conditions === undefined ? {} : { conditions: status.conditions };
}
