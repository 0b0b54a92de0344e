/**
 * core/v1 PersistentVolumeClaim: a request for a volume of some size and class. A controller binds or provisions a PersistentVolume for it,
 * and Pods of the namespace use the volume by the claim's name. Not here: binding (controllers), who may use it (admission).
 */
import { withChanges } from "../../changes.ts";
import type { PersistentVolumeClaim } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn, UNSET } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { withBothDataSources } from "./persistent-volume-claim/data-sources.ts";
import { defaultClaim } from "./persistent-volume-claim/defaults.ts";
import { validateClaim, validateClaimStatus, validateClaimUpdate } from "./persistent-volume-claim/validate.ts";
import { claimWarnings } from "./persistent-volume-claim/warnings.ts";
import { accessModesCell, phaseCell, sizeCell, storageClassOf } from "./persistent-storage.ts";

export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>({
  kind: "PersistentVolumeClaim",
  plural: "persistentvolumeclaims",
  singular: "persistentvolumeclaim",
  shortNames: ["pvc"],
  scope: "Namespaced",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.PersistentVolumeClaim", defaults: defaultClaim }],
  returnsDeletedObject: true,

  prepareForCreate: (claim) => ({ ...claim, spec: withBothDataSources(claim.spec ?? {}), status: { phase: "Pending" } }),
  prepareForUpdate: (next, previous) =>
    withChanges(next, { spec: withBothDataSources(next.spec ?? {}, previous.spec), status: previous.status }),

  validate: validateClaim,
  validateUpdate: validateClaimUpdate,
  warnings: claimWarnings,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous) => withChanges(next, { spec: previous.spec }),
      validateUpdate: validateClaimStatus,
    },
  },

  columns: [
    nameColumn,
    textColumn("Status", "Phase of the claim", phaseCell),
    textColumn("Volume", "Bound PersistentVolume", ({ spec }) => spec?.volumeName ?? ""),
    textColumn("Capacity", "Capacity of the bound volume", ({ spec, status }) => (spec?.volumeName ? sizeCell(status?.capacity) : "")),
    textColumn("Access Modes", "Access modes of the bound volume", ({ spec, status }) =>
      spec?.volumeName ? accessModesCell(status?.accessModes) : "",
    ),
    textColumn("StorageClass", "Requested storage class", ({ metadata, spec }) => storageClassOf(metadata, spec?.storageClassName)),
    textColumn("VolumeAttributesClass", "Requested VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
    ageColumn,
    textColumn("VolumeMode", "Filesystem or Block", ({ spec }) => spec?.volumeMode ?? UNSET, { priority: 1 }),
  ],
});
