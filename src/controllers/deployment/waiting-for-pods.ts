/**
 * Which Deployment waits for a Pod's deletion: one with strategy Recreate, for its old Pods. Otherwise ReplicaSet status suffices; that no
 * longer counts terminating Pods, which still run.
 */
import { deployments } from "../../api/apps/v1/deployment.ts";
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { isRollingUpdate } from "../../api/apps/v1/rolling-bounds.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { KubeObject } from "../../api/machinery/object.ts";
import type { ResourceKind } from "../../client/client.ts";
import type { Reader } from "../../client/informer/informer.ts";
import type { Change, WorkKey } from "../runtime/controller.ts";
import { controllerReference, keyOf } from "../runtime/keys.ts";

export function* deploymentsWaitingFor({ is, object }: Change<Pod>, read: Reader): Iterable<WorkKey> {
  if (is !== "deleted") return;
  const replicaSet = controllerOf(object, replicaSets, read);
  const deployment = replicaSet && controllerOf(replicaSet, deployments, read);
  if (deployment !== undefined && !isRollingUpdate(deployment)) yield keyOf(deployment);
}

function controllerOf<O extends KubeObject>(object: KubeObject, kind: ResourceKind<O>, read: Reader): O | undefined {
  const reference = controllerReference(object);
  if (reference?.kind !== kind.kind) return undefined;
  const owner = read.get(kind, { namespace: object.metadata.namespace, name: reference.name });
  return owner?.metadata.uid === reference.uid ? owner : undefined;
}
