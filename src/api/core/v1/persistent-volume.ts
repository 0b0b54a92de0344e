/**
 * core/v1 PersistentVolume: a piece of storage of the cluster, created by an administrator or for a claim, that outlives the Pods that use
 * it. Not here: binding and reclaiming (controllers), mounting (kubelet).
 */
import { withChanges } from "../../changes.ts";
import type { PersistentVolume, PersistentVolumeStatus } from "../../generated/core/v1.ts";
import { ageColumn, nameColumn, textColumn, UNSET } from "../../machinery/columns.ts";
import { defineResource } from "../../machinery/resource.ts";
import { formatTime } from "../../machinery/time.ts";
import { accessModesCell, phaseCell, sizeCell, storageClassOf } from "./persistent-storage.ts";
import { defaultVolume } from "./persistent-volume/defaults.ts";
import { validateVolume, validateVolumeUpdate } from "./persistent-volume/validate.ts";
import { volumeWarnings } from "./persistent-volume/warnings.ts";

export const persistentVolumes = defineResource<PersistentVolume>({
  kind: "PersistentVolume",
  plural: "persistentvolumes",
  singular: "persistentvolume",
  shortNames: ["pv"],
  scope: "Cluster",
  served: [{ group: "", version: "v1", schema: "io.k8s.api.core.v1.PersistentVolume", defaults: defaultVolume }],
  returnsDeletedObject: true,

  prepareForCreate: (volume, { nowMs }) => ({ ...volume, status: { phase: "Pending", lastPhaseTransitionTime: formatTime(nowMs) } }),
  prepareForUpdate: (next, previous) => withChanges(next, { status: previous.status }),

  validate: validateVolume,
  validateUpdate: validateVolumeUpdate,
  warnings: volumeWarnings,

  subresources: {
    status: {
      of: "object",
      verbs: ["get", "patch", "update"],
      prepareForUpdate: (next, previous, { nowMs }) =>
        withChanges(next, { spec: previous.spec, status: withPhaseTime(next.status ?? {}, previous.status ?? {}, nowMs) }),
    },
  },

  columns: [
    nameColumn,
    textColumn("Capacity", "Storage capacity", ({ spec }) => sizeCell(spec?.capacity)),
    textColumn("Access Modes", "Supported access modes", ({ spec }) => accessModesCell(spec?.accessModes)),
    textColumn("Reclaim Policy", "Reclaim policy after the claim is deleted", ({ spec }) => spec?.persistentVolumeReclaimPolicy ?? ""),
    textColumn("Status", "Phase of the volume", phaseCell),
    textColumn("Claim", "Bound PersistentVolumeClaim", claimCell),
    textColumn("StorageClass", "Storage class", ({ metadata, spec }) => storageClassOf(metadata, spec?.storageClassName)),
    textColumn("VolumeAttributesClass", "Current VolumeAttributesClass", ({ spec }) => spec?.volumeAttributesClassName ?? UNSET),
    textColumn("Reason", "Reason of the current state", ({ status }) => status?.reason ?? ""),
    ageColumn,
    textColumn("VolumeMode", "Filesystem or Block", ({ spec }) => spec?.volumeMode ?? UNSET, { priority: 1 }),
  ],
});

/** Time of the last phase transition. A client may set it itself. */
function withPhaseTime(status: PersistentVolumeStatus, previous: PersistentVolumeStatus, nowMs: number): PersistentVolumeStatus {
  const { lastPhaseTransitionTime: before } = previous;
  const { lastPhaseTransitionTime: said } = status;
  if (status.phase === previous.phase) return withChanges(status, { lastPhaseTransitionTime: said ?? before });
  return said === undefined || said === before ? withChanges(status, { lastPhaseTransitionTime: formatTime(nowMs) }) : status;
}

function claimCell({ spec }: PersistentVolume): string {
  const claim = spec?.claimRef;
  return claim === undefined ? "" : `${claim.namespace ?? ""}/${claim.name ?? ""}`;
}
