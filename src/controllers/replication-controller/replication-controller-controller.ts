/**
 * Keeps the number of Pods of a ReplicationController equal to `spec.replicas`: controllers/shared/replicas.ts. Its status has no field for
 * terminating Pods, and nothing groups ReplicationControllers, so none has siblings.
 */
import { replicationControllers } from "../../api/core/v1/replication-controller.ts";
import type { ReplicationController } from "../../api/generated/core/v1.ts";
import type { Labels } from "../../api/machinery/selectors/label-requirement.ts";
import { labelSelectorFromLabels } from "../../api/machinery/selectors/label-selector.ts";
import { keepSelectors } from "../shared/adopters.ts";
import { replicaController } from "../shared/replicas.ts";

const readSelector = keepSelectors<Labels>(labelSelectorFromLabels);

export const replicationControllerController = replicaController<ReplicationController>(
  {
    name: "replicationcontroller-controller",
    aliases: ["replicationcontroller"],
    account: "replication-controller",
    rules: [
      { apiGroups: [""], resources: ["replicationcontrollers"], verbs: ["get", "list", "watch"] },
      { apiGroups: [""], resources: ["replicationcontrollers/status", "replicationcontrollers/finalizers"], verbs: ["update"] },
      { apiGroups: [""], resources: ["pods"], verbs: ["list", "watch", "create", "patch", "delete"] },
      { apiGroups: ["", "events.k8s.io"], resources: ["events"], verbs: ["create", "patch", "update"] },
    ],
  },
  {
    kind: replicationControllers,
    selectorOf: ({ spec }) => readSelector(spec?.selector),
    reportsTerminating: false,
  },
);
