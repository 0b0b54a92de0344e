import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { VolumeUsage } from "../../contracts/pod-storage.ts";
import { volumeSummaries } from "./storage-summary.ts";
import { volumeFamilies } from "./volume-metrics.ts";

const CLAIMED: VolumeUsage = {
  name: "v",
  isEphemeral: false,
  filesystem: { availableBytes: 1, capacityBytes: 3, usedBytes: 2, inodes: 9 },
  used: { usedBytes: 2 },
  claim: { namespace: "ns", name: "c" },
};
const { claim: _claim, ...UNCLAIMED } = CLAIMED;

test("volumes of claims are gauges, one per claim, and others are none", () => {
  const families = volumeFamilies([
    { volumes: [CLAIMED, { ...UNCLAIMED, name: "w" }], logs: new Map() },
    { volumes: [CLAIMED], logs: new Map() },
  ]);

  const labels = { namespace: "ns", persistentvolumeclaim: "c" };
  deepEqual(
    families.map(({ name, samples }) => [name, samples]),
    [
      ["kubelet_volume_stats_capacity_bytes", [{ labels, value: 3 }]],
      ["kubelet_volume_stats_available_bytes", [{ labels, value: 1 }]],
      ["kubelet_volume_stats_used_bytes", [{ labels, value: 2 }]],
      ["kubelet_volume_stats_inodes", [{ labels, value: 9 }]],
    ],
  );
});

test("a volume that its driver finds abnormal is so in metrics and summary, with the claim's name", () => {
  const volumes = [{ ...CLAIMED, condition: { isAbnormal: true, message: "" } }];

  deepEqual(volumeFamilies([{ volumes, logs: new Map() }]).at(-1)?.samples[0]?.value, 1);
  deepEqual(volumeSummaries({ volumes, logs: new Map() }, "t"), [
    {
      ...{ time: "t", availableBytes: 1, capacityBytes: 3, usedBytes: 2, inodes: 9, name: "v" },
      pvcRef: { name: "c", namespace: "ns" },
      volumeHealthStats: { abnormal: true },
    },
  ]);
});
