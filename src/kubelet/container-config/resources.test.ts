import assert from "node:assert/strict";
import { test } from "node:test";
import type { Container, PodSpec, ResourceRequirements } from "../../api/generated/core/v1.ts";
import type { LinuxResources } from "../contracts/container-run.ts";
import type { CgroupOptions } from "./node-view.ts";
import { containerResources, cpuQuotaOf, cpuSharesOf, oomScoreAdjOf, sandboxResources } from "./resources.ts";
import { aContainer, aPod, node } from "./testing/views.ts";

for (const [milliCpu, shares, quota] of [
  [0, 2, undefined],
  [1, 2, 1000],
  [2, 2, 1000],
  [5, 5, 1000],
  [10, 10, 1000],
  [100, 102, 10_000],
  [250, 256, 25_000],
  [1000, 1024, 100_000],
  [1250, 1280, 125_000],
  [1_000_000, 262_144, 100_000_000],
] as const) {
  test(`${milliCpu}m cpu are ${shares} shares and a quota of ${quota ?? "none"}`, () => {
    assert.deepEqual([cpuSharesOf(milliCpu), cpuQuotaOf(milliCpu)], [shares, quota]);
  });
}

function resourcesOf(resources: ResourceRequirements, spec: Partial<PodSpec> = {}, cgroups: Partial<CgroupOptions> = {}): LinuxResources {
  const container = aContainer({ resources });
  const pod = aPod({ containers: [container], ...spec });
  return containerResources({ pod, container, capacity: node.capacity, cgroups: { ...node.cgroups, ...cgroups } });
}

const period = { cpuPeriod: 100_000, hugepageLimits: [] };

test("a container without requests gets minimal shares and the highest OOM score", () => {
  assert.deepEqual(resourcesOf({}), { ...period, cpuShares: 2, oomScoreAdj: 1000 });
});

test("requests set cpu shares, limits set quota and memory bytes", () => {
  assert.deepEqual(resourcesOf({ requests: { cpu: "250m", memory: "1Gi" }, limits: { cpu: "500m", memory: "2Gi" } }), {
    ...period,
    cpuShares: 256,
    cpuQuota: 50_000,
    memoryLimitBytes: 2 * 1024 ** 3,
    oomScoreAdj: 900,
  });
});

test("a limit without a request is the request", () => {
  assert.deepEqual(resourcesOf({ limits: { cpu: "1", memory: "1Gi" } }).cpuShares, 1024);
});

test("Pod-level limits apply to containers without their own", () => {
  const spec = { resources: { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2", memory: "4Gi", "hugepages-2Mi": "6Mi" } } };
  assert.deepEqual(resourcesOf({ limits: { memory: "512Mi" } }, spec, { hugePageSizes: ["2MB", "1GB"] }), {
    cpuPeriod: 100_000,
    cpuShares: 2048,
    cpuQuota: 200_000,
    memoryLimitBytes: 512 * 1024 ** 2,
    oomScoreAdj: 900,
    hugepageLimits: [
      { pageSize: "2MB", limit: 6 * 1024 ** 2 },
      { pageSize: "1GB", limit: 0 },
    ],
  });
});

test("swap is disabled where the kernel can limit it", () => {
  const limits = { cpu: "1", memory: "1Gi" };
  const memoryLimitBytes = 1024 ** 3;
  const swapSettings = (cgroups: Partial<CgroupOptions>) => {
    const { memorySwapLimitBytes, unified } = resourcesOf({ limits }, {}, cgroups);
    return { memorySwapLimitBytes, unified };
  };

  assert.deepEqual(swapSettings({ canLimitSwap: true }), { memorySwapLimitBytes: memoryLimitBytes, unified: undefined });
  assert.deepEqual(swapSettings({ version: 2, canLimitSwap: true }), {
    memorySwapLimitBytes: undefined,
    unified: { "memory.oom.group": "1", "memory.swap.max": "0" },
  });
  assert.deepEqual(swapSettings({ version: 2 }), { memorySwapLimitBytes: undefined, unified: { "memory.oom.group": "1" } });
});

const memory = (amount: string): ResourceRequirements => ({ requests: { memory: amount } });

const scores: readonly (readonly [claim: string, container: Partial<Container>, spec: Partial<PodSpec>, score: number])[] = [
  [
    "Guaranteed has the lowest score",
    { resources: { limits: { cpu: "1", memory: "1Gi" }, requests: { cpu: "1", memory: "1Gi" } } },
    {},
    -997,
  ],
  ["a node-critical Pod has the lowest score", {}, { priorityClassName: "system-node-critical" }, -997],
  ["a request of a tenth of the memory is 900", { resources: memory("1Gi") }, {}, 900],
  ["a request of all memory is still above system processes", { resources: memory("10Gi") }, {}, 3],
  ["a tiny memory request is below BestEffort", { resources: memory("1Mi") }, {}, 999],
  ["a cpu-only request is below BestEffort", { resources: { requests: { cpu: "1" } } }, {}, 999],
  ["a Pod-level request is distributed among the containers", { resources: memory("1Gi") }, { resources: memory("3Gi") }, 700],
];

for (const [claim, fields, spec, score] of scores) {
  test(`oom_score_adj: ${claim}`, () => {
    const container = aContainer(fields);
    assert.equal(oomScoreAdjOf({ pod: aPod({ containers: [container], ...spec }), container, capacity: node.capacity }), score);
  });
}

test("a sidecar's oom_score_adj is not above that of the main containers", () => {
  const sidecar = aContainer({ name: "side", restartPolicy: "Always", resources: memory("1Gi") });
  const containers = [aContainer({ resources: memory("4Gi") }), aContainer({ name: "b", resources: memory("3Gi") })];
  assert.equal(oomScoreAdjOf({ pod: aPod({ containers, initContainers: [sidecar] }), container: sidecar, capacity: node.capacity }), 700);
});

test("a sandbox gets the sum of all container resources without the overhead", () => {
  const one = aContainer({ resources: { requests: { cpu: "250m" }, limits: { cpu: "500m", memory: "1Gi" } } });
  const pod = aPod({ containers: [one, { ...one, name: "two" }], overhead: { cpu: "1", memory: "1Gi" } });
  assert.deepEqual(sandboxResources(pod), { cpuShares: 512, cpuPeriod: 100_000, cpuQuota: 100_000, memoryLimitBytes: 2 * 1024 ** 3 });
});
