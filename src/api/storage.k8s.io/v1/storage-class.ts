/**
 * storage.k8s.io/v1 StorageClass: a named kind of storage for claims, and its provisioner. The properties of its volumes are immutable,
 * because some may exist already. Not here: the default class (admission).
 */
import { deepEqual } from "../../../base/deep.ts";
import { withChanges } from "../../changes.ts";
import { deprecatedNodeLabel } from "../../core/v1/node/label-warnings.ts";
import type { StorageClass } from "../../generated/storage.k8s.io/v1.ts";
import { ageColumn, nameColumn, textColumn } from "../../machinery/columns.ts";
import { immutable, notSupported, type FieldError } from "../../machinery/field-error.ts";
import type { ObjectMeta } from "../../machinery/object.ts";
import { defineResource } from "../../machinery/resource.ts";
import { sortedMembers } from "../../members.ts";
import { validateParameters, validateProvisioner } from "./parameters.ts";
import { validateTopologies } from "./storage-class/topologies.ts";

const RECLAIM_POLICIES = ["Delete", "Retain"];
const BINDING_MODES = ["Immediate", "WaitForFirstConsumer"];

export const storageClasses = defineResource<StorageClass>({
  kind: "StorageClass",
  plural: "storageclasses",
  singular: "storageclass",
  shortNames: ["sc"],
  scope: "Cluster",
  served: [{ group: "storage.k8s.io", version: "v1", schema: "io.k8s.api.storage.v1.StorageClass", defaults: defaultStorageClass }],
  returnsDeletedObject: true,

  *validate({ provisioner, parameters, reclaimPolicy = "", volumeBindingMode = "", allowedTopologies = [] }) {
    yield* validateProvisioner(provisioner, "provisioner");
    yield* validateParameters(parameters, "parameters");
    if (reclaimPolicy !== "" && !RECLAIM_POLICIES.includes(reclaimPolicy)) {
      yield notSupported("reclaimPolicy", reclaimPolicy, RECLAIM_POLICIES);
    }
    if (!BINDING_MODES.includes(volumeBindingMode)) yield notSupported("volumeBindingMode", volumeBindingMode, BINDING_MODES);
    yield* validateTopologies(allowedTopologies, "allowedTopologies");
  },
  validateUpdate,
  *warnings({ allowedTopologies = [] }) {
    for (const [index, { matchLabelExpressions = [] }] of allowedTopologies.entries()) {
      for (const [position, { key }] of matchLabelExpressions.entries()) {
        const message = deprecatedNodeLabel(key);
        if (message !== undefined) yield `allowedTopologies[${index}].matchLabelExpressions[${position}].key: ${message}`;
      }
    }
  },

  columns: [
    { ...nameColumn, value: ({ metadata }) => (isDefault(metadata) ? `${metadata.name} (default)` : metadata.name) },
    textColumn("Provisioner", "Provisioner of the volumes", ({ provisioner }) => provisioner),
    textColumn("ReclaimPolicy", "Reclaim policy of volumes after their claim is deleted", ({ reclaimPolicy }) => reclaimPolicy ?? "Delete"),
    textColumn(
      "VolumeBindingMode",
      "Volume binding mode: Immediate or WaitForFirstConsumer",
      ({ volumeBindingMode }) => volumeBindingMode ?? "Immediate",
    ),
    textColumn(
      "AllowVolumeExpansion",
      "Whether volumes of the class can be expanded",
      ({ allowVolumeExpansion }) => allowVolumeExpansion ?? false,
    ),
    ageColumn,
  ],
});

function defaultStorageClass(storageClass: StorageClass): StorageClass {
  const { reclaimPolicy = "Delete", volumeBindingMode = "Immediate" } = storageClass;
  return withChanges(storageClass, { reclaimPolicy, volumeBindingMode });
}

function* validateUpdate(next: StorageClass, previous: StorageClass): Iterable<FieldError> {
  if (!deepEqual(next.parameters ?? {}, previous.parameters ?? {})) yield immutable("parameters", sortedMembers(next.parameters));
  for (const field of ["provisioner", "reclaimPolicy", "volumeBindingMode"] as const) {
    if (next[field] !== previous[field]) yield immutable(field, next[field]);
  }
}

const DEFAULT_ANNOTATIONS = ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

/** Of several default classes the newest counts, as admission has it (DefaultStorageClass). */
export function defaultClassOf(classes: readonly StorageClass[]): StorageClass | undefined {
  const [first, ...others] = classes.filter(({ metadata }) => isDefault(metadata));
  if (first === undefined) return undefined;
  return others.reduce((best, other) => (isNewer(other, best) ? other : best), first);
}

/** Of the same age, the lower name counts. */
function isNewer({ metadata: one }: StorageClass, { metadata: other }: StorageClass): boolean {
  const [age, otherAge] = [one.creationTimestamp ?? "", other.creationTimestamp ?? ""];
  return age === otherAge ? one.name < other.name : age > otherAge;
}

function isDefault({ annotations }: ObjectMeta): boolean {
  return DEFAULT_ANNOTATIONS.some((name) => annotations?.[name] === "true");
}
