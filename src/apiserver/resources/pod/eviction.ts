/**
 * `pods/eviction`: a delete that says why. The Pod shows the reason as a condition before it goes. Budgets of disruption are asked here
 * once that kind exists.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { KubeObject } from "../../../api/machinery/object.ts";
import { badRequest } from "../../../api/machinery/status-error.ts";
import { formatTime } from "../../../api/machinery/time.ts";
import { isDryRun } from "../../request.ts";
import type { ServerContext } from "../../server-context.ts";
import type { StoredObject } from "../../storage/stored-object.ts";
import { deleteObject } from "../../write/delete.ts";
import type { DeleteOptions } from "../../write/deletion.ts";
import { updateObject } from "../../write/update.ts";
import type { ActionCall } from "../../extension.ts";
import { success, type Outcome } from "../../outcome.ts";
import { withCondition } from "./binding.ts";
import { UNCHECKED } from "./unchecked.ts";

interface Eviction extends KubeObject {
  readonly deleteOptions?: DeleteOptions;
}

export async function evict(server: ServerContext, { endpoint, request, object }: ActionCall): Promise<Outcome> {
  const { metadata, deleteOptions = {} } = object as Eviction;
  if (metadata.name !== request.name) throw badRequest("name in URL does not match name in Eviction object");
  const name = { namespace: request.namespace, name: request.name };
  const dryRun = isDryRun(request.options) ? { dryRun: ["All"] } : {};
  if (!isDryRun(request.options) && (deleteOptions.dryRun ?? []).length === 0) await markAsDisrupted(server, { endpoint, request, object });
  await deleteObject(server, { endpoint, request, name, options: { ...deleteOptions, ...dryRun } });
  return success(201);
}

async function markAsDisrupted(server: ServerContext, { endpoint, request }: ActionCall): Promise<void> {
  await updateObject(server, {
    endpoint,
    request,
    subresource: UNCHECKED,
    createsIfAbsent: false,
    next: (current) => {
      const stored = current as StoredObject;
      const pod = stored.object as unknown as Pod;
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "EvictionByEvictionAPI",
        message: "Eviction API: evicting",
      } as const;
      const conditions = withCondition(pod.status?.conditions ?? [], condition, formatTime(server.clock.now()));
      const marked = { ...pod, status: { ...pod.status, conditions } } as unknown as KubeObject;
      return { object: marked, managed: stored.managed(), resourceVersion: "" };
    },
  });
}
