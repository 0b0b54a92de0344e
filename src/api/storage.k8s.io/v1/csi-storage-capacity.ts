/**
 * storage.k8s.io/v1 CSIStorageCapacity: the available capacity of a class for some of the nodes. The scheduler reads it before it places a
 * Pod. Class and topology are immutable, the capacity is not.
 */
import { deepEqual } from "../../../base/deep.ts";
import { shownSelector } from "../../apps/v1/workload.ts";
import { nodeLabelSelectorWarnings } from "../../core/v1/node/label-warnings.ts";
import { dnsSubdomain } from "../../core/v1/pod/validation/checks.ts";
import { readQuantity } from "../../core/v1/pod/resource-list.ts";
import type { CSIStorageCapacity } from "../../generated/storage.k8s.io/v1.ts";
import { createdAtColumn, nameColumn } from "../../machinery/columns.ts";
import { immutable, invalid } from "../../machinery/field-error.ts";
import { warningsOf } from "../../machinery/findings.ts";
import { validateLabelSelectorObject } from "../../machinery/selectors/label-selector.ts";
import { formatQuantity, signOf } from "../../machinery/quantity.ts";
import { defineResource } from "../../machinery/resource.ts";
import { NOT_NEGATIVE } from "../../number-validation.ts";

export const csiStorageCapacities = defineResource<CSIStorageCapacity>({
  kind: "CSIStorageCapacity",
  plural: "csistoragecapacities",
  singular: "csistoragecapacity",
  scope: "Namespaced",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.CSIStorageCapacity" }],
  unconditionalUpdate: false,

  *validate({ nodeTopology, storageClassName, capacity = "0" }) {
    yield* validateLabelSelectorObject(nodeTopology, "nodeTopology");
    yield* dnsSubdomain(storageClassName, "storageClassName");
    const amount = readQuantity(capacity);
    if (signOf(amount) < 0) yield invalid("capacity", formatQuantity(amount), NOT_NEGATIVE);
  },
  *validateUpdate(next, previous) {
    if (!deepEqual(next.nodeTopology, previous.nodeTopology)) yield immutable("nodeTopology", shownSelector(next.nodeTopology));
    if (next.storageClassName !== previous.storageClassName) yield immutable("storageClassName", next.storageClassName);
  },
  warnings: ({ nodeTopology }) => warningsOf((warnings) => nodeLabelSelectorWarnings(warnings, nodeTopology, "nodeTopology")),

  columns: [nameColumn, createdAtColumn],
});
