/** `pods/binding`: the scheduler assigns a Pod to a node. The assignment is final. */
import { validateBinding } from "../../api/core/v1/binding.ts";
import type { Binding, Pod, PodCondition } from "../../api/generated/core/v1.ts";
import { describeFieldError } from "../../api/machinery/field-error.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import { badRequest, conflict, StatusError, type ResourceName } from "../../api/machinery/status-error.ts";
import { formatTime, UNKNOWN_TIME } from "../../api/machinery/time.ts";
import type { ServerContext } from "../framework/server-context.ts";
import type { ActionCall } from "../framework/extension.ts";
import { success, type Outcome } from "../framework/outcome.ts";
import type { StoredObject } from "../framework/storage/storage.ts";
import { checkUid } from "../framework/storage/preconditions.ts";
import { UNCHECKED } from "../framework/storage/writes.ts";
import { joinedErrors } from "../../base/joined-errors.ts";

const PODS_BINDING = { group: "", plural: "pods/binding" };

export async function bindPod(server: ServerContext, { endpoint, request, object }: ActionCall): Promise<Outcome> {
  const binding = object as Binding;
  if (binding.metadata.name !== request.name) throw badRequest("name in URL does not match name in Binding object");
  const errors = [...validateBinding(binding)].map(describeFieldError);
  // As upstream, not reported as a client error.
  if (errors.length > 0) throw new StatusError("Unknown", joinedErrors(errors));
  await server.writes.update({
    endpoint,
    request,
    subresource: UNCHECKED,
    createsIfAbsent: false,
    next: (current) => {
      const stored = current as StoredObject;
      const pod = stored.object as Pod;
      checkPreconditions(endpoint.name, binding, stored);
      const why = obstacle(pod);
      if (why !== undefined) throw conflict(PODS_BINDING, request.name, why);
      const bound = boundPod(pod, binding, formatTime(server.clock.now())) as KubeObject;
      // Claims no fields: as upstream, the binder does not own nodeName.
      return { object: bound, managed: stored.managed(), resourceVersion: "" };
    },
  });
  return success(201);
}

/** The Pod must have the binding's uid and resourceVersion, if set. */
function checkPreconditions(resource: ResourceName, { metadata }: Binding, stored: StoredObject): void {
  const { uid, resourceVersion = "" } = metadata;
  const name = stored.object.metadata.name;
  checkUid(resource, name, { wanted: uid, found: stored.object.metadata.uid });
  if (resourceVersion === "" || resourceVersion === String(stored.revision)) return;
  throw conflict(
    resource,
    name,
    `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${stored.revision}`,
  );
}

function obstacle({ metadata, spec }: Pod): string | undefined {
  if (metadata.deletionTimestamp !== undefined) return `pod ${metadata.name} is being deleted, cannot be assigned to a host`;
  if ((spec?.nodeName ?? "") !== "") return `pod ${metadata.name} is already assigned to node ${JSON.stringify(spec?.nodeName)}`;
  if ((spec?.schedulingGates ?? []).length > 0) return `pod ${metadata.name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function boundPod(pod: Pod, { metadata, target }: Binding, now: string): Pod {
  const { nominatedNodeName: _nominated, ...status } = pod.status ?? {};
  const annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  const labels = { ...pod.metadata.labels, ...metadata.labels };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
    },
    spec: { ...(pod.spec as NonNullable<Pod["spec"]>), nodeName: target.name ?? "" },
    status: { ...status, conditions: withCondition(status.conditions ?? [], { type: "PodScheduled", status: "True" }, now) },
  };
}

/** Replaces the condition of a type; lastTransitionTime changes only with its status. */
export function withCondition(conditions: readonly PodCondition[], condition: PodCondition, now: string): readonly PodCondition[] {
  const before = conditions.find(({ type }) => type === condition.type);
  const lastTransitionTime =
    before?.status === condition.status && before.lastTransitionTime !== undefined ? before.lastTransitionTime : now;
  const next = { ...condition, lastProbeTime: UNKNOWN_TIME, lastTransitionTime };
  return before === undefined ? [...conditions, next] : conditions.map((known) => (known === before ? next : known));
}
