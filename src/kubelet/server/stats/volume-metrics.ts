/** Usage of the volumes of claims as metrics of the kubelet: names and helps are upstream's. A claim of several Pods is reported once. */
import type { Family, Labels } from "../../../base/metrics/prometheus-text.ts";
import type { FilesystemUsage, PodStorage, VolumeUsage } from "../../contracts/pod-storage.ts";

const GAUGES = [
  ["kubelet_volume_stats_capacity_bytes", "Capacity in bytes of the volume", "capacityBytes"],
  ["kubelet_volume_stats_available_bytes", "Number of available bytes in the volume", "availableBytes"],
  ["kubelet_volume_stats_used_bytes", "Number of used bytes in the volume", "usedBytes"],
  ["kubelet_volume_stats_inodes", "Maximum number of inodes in the volume", "inodes"],
  ["kubelet_volume_stats_inodes_free", "Number of free inodes in the volume", "inodesFree"],
  ["kubelet_volume_stats_inodes_used", "Number of used inodes in the volume", "inodesUsed"],
] as const satisfies readonly (readonly [string, string, keyof FilesystemUsage])[];

export function volumeFamilies(pods: Iterable<PodStorage>): readonly Family[] {
  const byClaim = new Map<string, { readonly labels: Labels; readonly usage: VolumeUsage }>();
  for (const { volumes } of pods) {
    for (const usage of volumes) {
      if (usage.claim === undefined) continue;
      const { namespace, name } = usage.claim;
      byClaim.set(`${namespace}/${name}`, { labels: { namespace, persistentvolumeclaim: name }, usage });
    }
  }
  const claims = [...byClaim.values()];
  const gauges: Family[] = GAUGES.map(([name, help, field]) => ({
    name,
    help: `[ALPHA] ${help}`,
    type: "gauge",
    samples: claims.flatMap(({ labels, usage }) => {
      const value = usage.filesystem[field];
      return value === undefined ? [] : [{ labels, value }];
    }),
  }));
  const health: Family = {
    name: "kubelet_volume_stats_health_status_abnormal",
    help: "[ALPHA] Abnormal volume health status. The count is either 1 or 0. 1 indicates the volume is unhealthy, 0 indicates volume is healthy",
    type: "gauge",
    samples: claims.flatMap(({ labels, usage: { condition } }) =>
      condition === undefined ? [] : [{ labels, value: condition.isAbnormal ? 1 : 0 }],
    ),
  };
  return [...gauges, health].filter(({ samples }) => samples.length > 0);
}
