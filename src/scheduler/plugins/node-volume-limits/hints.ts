/** Queueing hints of NodeVolumeLimits: upstream's. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { CSINode, VolumeAttachment } from "../../../api/generated/storage.k8s.io/v1.ts";
import type { RetryRule } from "../../framework/cluster-event.ts";
import { migratedInlineVolume } from "../../framework/volumes/migration.ts";
import { usesClaim } from "../../framework/volumes/pod-claims.ts";
import { limitsOf } from "./limits.ts";

export const volumeLimitsRetryRules: readonly RetryRule[] = [
  {
    of: "object",
    kind: "CSINode",
    changes: ["added", "updated"],
    isWorthIt: (_pod, { object, previous }) => previous === undefined || hasHigherLimit(object, previous),
  },
  { of: "assigned-pod", changes: ["deleted"], isWorthIt: (_pod, { pod: deleted }) => mayHaveReleased(deleted) },
  { of: "object", kind: "PersistentVolumeClaim", changes: ["added"], isWorthIt: (pod, { object }) => usesClaim(pod, object) },
  { of: "object", kind: "VolumeAttachment", changes: ["deleted"], isWorthIt: (pod, { object }) => isConcerned(pod, object) },
];

function hasHigherLimit(csiNode: CSINode, previous: CSINode): boolean {
  const before = limitsOf(previous);
  return [...(limitsOf(csiNode) ?? [])].some(([driver, limit]) => limit > (before?.get(driver) ?? 0));
}

function mayHaveReleased({ spec, status }: Pod): boolean {
  if ((spec?.nodeName ?? "") === "" && (status?.nominatedNodeName ?? "") === "") return false;
  return (spec?.volumes ?? []).some(
    (volume) => volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined || migratedInlineVolume(volume) !== undefined,
  );
}

function isConcerned({ spec }: Pod, { spec: { attacher } }: VolumeAttachment): boolean {
  return (spec?.volumes ?? []).some(
    (volume) =>
      volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined || migratedInlineVolume(volume)?.driver === attacher,
  );
}
