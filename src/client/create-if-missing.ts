/** Creates objects that a component needs, without writes where they exist. */
import type { KubeObject } from "../api/machinery/object.ts";
import { isReason } from "../api/machinery/status-error.ts";
import type { Client, Draft, ResourceKind } from "./client.ts";

/**
 * Reads first: a create is admitted before it is found to exist, so that a dead webhook for everything would fail what needs no write, such
 * as the restart of a cluster.
 */
export async function createIfMissing<T extends KubeObject>(client: Client, kind: ResourceKind<T>, draft: Draft<T>): Promise<void> {
  const { namespace, name = "" } = draft.metadata;
  try {
    await client.get(kind, namespace === undefined ? { name } : { namespace, name });
    return;
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
  try {
    await client.create(kind, draft);
  } catch (error) {
    if (!isReason(error, "AlreadyExists")) throw error;
  }
}
