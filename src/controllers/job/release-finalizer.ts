/** Removal of the tracking finalizer from a Pod. A Pod that no longer exists has none. */
import { pods } from "../../api/core/v1/pod.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { isReason } from "../../api/machinery/status-error.ts";
import type { Client } from "../../client/client.ts";
import { keyOf } from "../runtime/keys.ts";
import { isTracked, TRACKING_FINALIZER } from "./job-pods.ts";

/** `ifUnchanged`: rejects with Conflict if the Pod has changed since it was read. */
export async function releaseFinalizer(pod: Pod, write: Client, { ifUnchanged = false } = {}): Promise<void> {
  if (!isTracked(pod)) return;
  const { uid, resourceVersion } = pod.metadata;
  const read = ifUnchanged && resourceVersion !== undefined ? { resourceVersion } : {};
  const value = {
    metadata: { ...(uid === undefined ? {} : { uid }), ...read, "$deleteFromPrimitiveList/finalizers": [TRACKING_FINALIZER] },
  };
  try {
    await write.patch(pods, keyOf(pod), { type: "strategic", value });
  } catch (error) {
    if (!isReason(error, "NotFound")) throw error;
  }
}
