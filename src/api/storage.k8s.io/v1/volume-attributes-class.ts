/**
 * storage.k8s.io/v1 VolumeAttributesClass: mutable attributes of a volume, such as its throughput. A claim references another class to
 * modify its volume; the class itself is immutable.
 */
import { deepEqual } from "../../../base/deep.ts";
import type { VolumeAttributesClass } from "../../generated/storage.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { forbidden, required, type FieldError } from "../../machinery/field-error.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateParameters, validateProvisioner } from "./parameters.ts";

export const volumeAttributesClasses = defineResource<VolumeAttributesClass>({
  kind: "VolumeAttributesClass",
  plural: "volumeattributesclasses",
  singular: "volumeattributesclass",
  shortNames: ["vac"],
  scope: "Cluster",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.VolumeAttributesClass" }],
  returnsDeletedObject: true,

  *validate(attributesClass, previous) {
    // Upstream reports immutable fields before other errors.
    if (previous !== undefined) yield* validateSame(attributesClass, previous);
    yield* validateProvisioner(attributesClass.driverName, "driverName");
    yield* validateParameters(attributesClass.parameters, "parameters");
    if (Object.keys(attributesClass.parameters ?? {}).length === 0) {
      yield required("parameters", "must contain at least one key/value pair");
    }
  },

  columns: [nameColumn, textColumn("DriverName", "CSI driver of the class", ({ driverName }) => driverName), ageColumn],
});

function* validateSame(next: VolumeAttributesClass, previous: VolumeAttributesClass): Iterable<FieldError> {
  for (const field of ["driverName", "parameters"] as const) {
    if (!deepEqual(next[field], previous[field])) yield forbidden(field, `updates to ${field} are forbidden.`);
  }
}
