/**
 * resource.k8s.io/v1 ResourceSlice: some of the devices of one pool of one driver, as the driver publishes them. A pool with many devices
 * has several slices; its generation determines which of them belong together.
 *
 * Not here: publishing slices (drivers), and allocation (scheduler).
 */
import { deepEqual } from "../../../base/deep.ts";
import type { ResourceSlice } from "../../generated/resource.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { prepareSlice } from "./resource-slice/prepare.ts";
import { validateSliceSpec } from "./resource-slice/validate-slice.ts";

export const resourceSlices = defineResource<ResourceSlice>({
  kind: "ResourceSlice",
  plural: "resourceslices",
  singular: "resourceslice",
  scope: "Cluster",
  served: [{ group: "resource.k8s.io", version: "v1", schema: "io.k8s.api.resource.v1.ResourceSlice" }],

  returnsDeletedObject: true,
  prepareForCreate: prepareSlice,
  prepareForUpdate: (next, _previous, write) => prepareSlice(next, write),
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validate: ({ spec }, previous) => validateSliceSpec(spec, previous?.spec),
  *warnings({ spec: { driver } }) {
    if (driver === driver.toLowerCase()) return;
    yield `spec.driver: driver names should be lowercase; ${JSON.stringify(driver)} contains uppercase characters`;
  },

  selectableFields: {
    "spec.driver": ({ spec }) => spec.driver,
    "spec.nodeName": nodeNameOf,
  },
  // Every kubelet watches the slices of its node.
  indexedFields: ["spec.nodeName"],

  columns: [
    nameColumn,
    textColumn("Node", "Node of the devices; empty if they are not local to one", nodeNameOf),
    textColumn("Driver", "DRA driver of the devices", ({ spec }) => spec.driver),
    textColumn("Pool", "Resource pool of the slice", ({ spec }) => spec.pool.name),
    ageColumn,
  ],
});

function nodeNameOf({ spec }: ResourceSlice): string {
  return spec.nodeName ?? "";
}
