/**
 * Keeps the number of Pods of a ReplicaSet equal to `spec.replicas`: controllers/shared/replicas.ts. Scale-down prefers Pods that share a
 * node with others of the same Deployment, of any of its ReplicaSets. Not here: scheduling (scheduler), starting containers (kubelet),
 * rolling updates (controllers/deployment).
 */
import { replicaSets } from "../../api/apps/v1/replica-set.ts";
import { isActive } from "../../api/core/v1/pod/readiness.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { ReplicaSet } from "../../api/generated/apps/v1.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { labelSelectorFromObject } from "../../api/machinery/selectors/label-selector.ts";
import type { Reader } from "../../client/informer/informer.ts";
import { keepSelectors } from "../shared/adopters.ts";
import { controllerReference } from "../runtime/keys.ts";
import { replicaController } from "../shared/replicas.ts";

const readSelector = keepSelectors(labelSelectorFromObject);

export const replicaSetController = replicaController<ReplicaSet>(
  {
    name: "replicaset-controller",
    aliases: ["replicaset"],
    account: "replicaset-controller",
    rules: [
      { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["get", "list", "watch"] },
      { apiGroups: ["apps"], resources: ["replicasets/status", "replicasets/finalizers"], verbs: ["update"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "create", "patch", "delete"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
  },
  {
    kind: replicaSets,
    selectorOf: ({ spec }) => readSelector(spec?.selector),
    reportsTerminating: true,
    siblingPods,
  },
);

/** All ReplicaSets with the same controller. Without one it has no siblings, and, as upstream, ignores nodes. */
function siblingPods(replicaSet: ReplicaSet, read: Reader): readonly Pod[] {
  const reference = controllerReference(replicaSet);
  if (reference === undefined) return [];
  const { apiVersion, kind, name, uid } = reference;
  const owner = { apiVersion, kind, metadata: { name, uid, namespace: replicaSet.metadata.namespace ?? "" } };
  return read.controlledBy(replicaSets, owner).flatMap((sibling) => read.controlledBy(pods, sibling).filter(isActive));
}
