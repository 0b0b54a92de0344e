/** Queueing hints of VolumeBinding: upstream's. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { CSIDriver, CSINode, CSIStorageCapacity } from "../../../api/generated/storage.k8s.io/v1.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import { MIGRATED_PLUGINS_ANNOTATION } from "../../framework/volumes/migration.ts";
import { usesClaim } from "../../framework/volumes/pod-claims.ts";
import { volumeLimit } from "./provisioning.ts";

export const volumeBindingRetryRules: readonly RetryRule[] = [
  {
    of: "object",
    kind: "StorageClass",
    changes: ["added", "updated"],
    // Nothing else of a class can change.
    isWorthIt: (_pod, { object, previous }) =>
      previous === undefined || !deepEqual(object.allowedTopologies ?? [], previous.allowedTopologies ?? []),
  },
  { of: "object", kind: "PersistentVolumeClaim", changes: ["added", "updated"], isWorthIt: (pod, { object }) => usesClaim(pod, object) },
  { of: "object", kind: "PersistentVolume", changes: ["added", "updated"] },
  { of: "node", changes: ["added", "labels"] },
  {
    of: "object",
    kind: "CSINode",
    changes: ["added", "updated"],
    isWorthIt: (_pod, { object, previous }) => previous === undefined || migratedPlugins(object) !== migratedPlugins(previous),
  },
  {
    of: "object",
    kind: "CSIDriver",
    changes: ["updated"],
    isWorthIt: (pod, { object, previous }) => stoppedCounting(pod, object, previous),
  },
  {
    of: "object",
    kind: "CSIStorageCapacity",
    changes: ["added", "updated"],
    isWorthIt: (_pod, { object, previous }) => previous === undefined || hasGrown(object, previous),
  },
];

function migratedPlugins({ metadata }: CSINode): string {
  return metadata.annotations?.[MIGRATED_PLUGINS_ANNOTATION] ?? "";
}

/** The driver no longer publishes capacities: nodes without enough are feasible. Any Pod with a claim may wait for that. */
function stoppedCounting({ spec }: Pod, driver: CSIDriver, previous: CSIDriver | undefined): boolean {
  if (previous?.spec.storageCapacity !== true || driver.spec.storageCapacity === true) return false;
  return (spec?.volumes ?? []).some(
    ({ csi, persistentVolumeClaim, ephemeral }) =>
      csi?.driver === driver.metadata.name || persistentVolumeClaim !== undefined || ephemeral !== undefined,
  );
}

function hasGrown(capacity: CSIStorageCapacity, previous: CSIStorageCapacity): boolean {
  const limit = volumeLimit(capacity);
  return limit !== undefined && limit > (volumeLimit(previous) ?? -1n);
}
