/**
 * resource.k8s.io/v1 DeviceClass: a named selection of devices by the cluster administrator, for claims to request. Its selectors and its
 * configuration are added to those of every claim.
 *
 * Not here: selecting devices (scheduler), and configuring them (the driver).
 */
import { deepEqual } from "../../../base/deep.ts";
import { isExtendedResource } from "../../core/v1/pod/validation/resources.ts";
import type { DeviceClass, DeviceClassConfiguration, DeviceClassSpec } from "../../generated/resource.k8s.io/v1.ts";
import { ageColumn, nameColumn } from "../../machinery/columns.ts";
import { invalid, type FieldError } from "../../machinery/field-error.ts";
import { validateLongName } from "../../machinery/names.ts";
import { defineResource } from "../../machinery/resource.ts";
import { validateConfiguration, validateSelectors } from "./device-configuration.ts";
import { validateList } from "./limited-lists.ts";

const CONFIGURATIONS_MAX = 32;

export const deviceClasses = defineResource<DeviceClass>({
  kind: "DeviceClass",
  plural: "deviceclasses",
  singular: "deviceclass",
  scope: "Cluster",
  served: [{ group: "resource.k8s.io", version: "v1", schema: "io.k8s.api.resource.v1.DeviceClass" }],

  returnsDeletedObject: true,
  changesGeneration: (next, previous) => !deepEqual(next.spec, previous.spec),

  validateName: validateLongName,
  validate: ({ spec }, previous) => validateSpec(spec, previous?.spec),

  columns: [nameColumn, ageColumn],
});

function* validateSpec({ selectors, config, extendedResourceName }: DeviceClassSpec, previous?: DeviceClassSpec): Iterable<FieldError> {
  const hasSelectors = previous !== undefined && deepEqual(selectors ?? [], previous.selectors ?? []);
  yield* validateSelectors(selectors, { stored: hasSelectors }, "spec.selectors");
  const stored = previous !== undefined && deepEqual(config ?? [], previous.config ?? []);
  const validate = (item: DeviceClassConfiguration, at: string): Iterable<FieldError> => validateConfiguration(item, { stored }, at);
  yield* validateList(config, { max: CONFIGURATIONS_MAX, validate }, "spec.config");
  if (extendedResourceName !== undefined && !isExtendedResource(extendedResourceName)) {
    yield invalid("spec.extendedResourceName", extendedResourceName, "must be a valid extended resource name");
  }
}
