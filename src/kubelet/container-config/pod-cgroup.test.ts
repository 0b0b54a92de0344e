import assert from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec, ResourceRequirements } from "../../api/generated/core/v1.ts";
import type { LinuxResources } from "../contracts/container-run.ts";
import { nodeCgroups, podCgroup, possiblePodCgroups } from "./pod-cgroup.ts";
import { aContainer, aPod, node } from "./testing/views.ts";

const GUARANTEED: ResourceRequirements = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } };
const BURSTABLE: ResourceRequirements = { requests: { cpu: "250m" } };

const paths = [
  [GUARANTEED, "/", "cgroupfs", "/kubepods/podu-1"],
  [BURSTABLE, "/", "cgroupfs", "/kubepods/burstable/podu-1"],
  [{}, "/k8ts/", "cgroupfs", "/k8ts/kubepods/besteffort/podu-1"],
  [GUARANTEED, "/", "systemd", "/kubepods.slice/kubepods-podu_1.slice"],
  [BURSTABLE, "/", "systemd", "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podu_1.slice"],
  [{}, "/k8ts", "systemd", "/k8ts.slice/k8ts-kubepods.slice/k8ts-kubepods-besteffort.slice/k8ts-kubepods-besteffort-podu_1.slice"],
  [GUARANTEED, "/a.slice/a-b.slice", "systemd", "/a.slice/a-b.slice/a-b-kubepods.slice/a-b-kubepods-podu_1.slice"],
] as const;

for (const [resources, root, driver, path] of paths) {
  test(`the cgroup of a Pod below ${root} is ${path} for ${driver}`, () => {
    assert.equal(podCgroup(aPod({ containers: [aContainer({ resources })] }), { root, driver }).path, path);
    assert.ok(possiblePodCgroups("u-1", { root, driver }).includes(path), "it is found by the uid alone");
  });
}

const GIB = 1024 ** 3;

const limits: readonly (readonly [claim: string, spec: Partial<PodSpec>, resources: LinuxResources])[] = [
  ["BestEffort has the least", {}, { cpuShares: 2 }],
  [
    "Guaranteed has what its containers have",
    { containers: [aContainer({ resources: GUARANTEED }), aContainer({ name: "b", resources: GUARANTEED })] },
    { cpuShares: 2048, cpuQuota: 200_000, cpuPeriod: 100_000, memoryLimitBytes: 2 * GIB },
  ],
  [
    "a container without a limit leaves the Pod without one",
    {
      containers: [
        aContainer({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
        aContainer({ name: "b", resources: { limits: { memory: "1Gi" } } }),
      ],
    },
    { cpuShares: 2, memoryLimitBytes: 2 * GIB },
  ],
  [
    "an init container without one does so, too",
    { containers: [aContainer({ resources: GUARANTEED })], initContainers: [aContainer({ name: "init" })] },
    { cpuShares: 1024 },
  ],
  [
    "limits of the Pod as a whole hold, with the overhead",
    { resources: { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } }, overhead: { cpu: "250m", memory: "1Gi" } },
    { cpuShares: 1280, cpuQuota: 225_000, cpuPeriod: 100_000, memoryLimitBytes: 2 * GIB },
  ],
  [
    "huge pages are what was asked for",
    { containers: [aContainer({ resources: { requests: { "hugepages-2Mi": "4Mi", cpu: "1" }, limits: { "hugepages-2Mi": "4Mi" } } })] },
    { cpuShares: 1024, hugepageLimits: [{ pageSize: "2MB", limit: 4 * 1024 ** 2 }] },
  ],
];

for (const [claim, spec, resources] of limits) {
  test(`the Pod's own cgroup: ${claim}`, () => {
    assert.deepEqual(podCgroup(aPod(spec), node.cgroups).resources, resources);
  });
}

test("above the Pods are the node's cgroups, with what all Pods of a kind ask for", () => {
  const burstable = aPod({ containers: [aContainer({ resources: BURSTABLE })] });
  const guaranteed = aPod({ containers: [aContainer({ resources: GUARANTEED })] });

  assert.deepEqual(
    nodeCgroups([burstable, guaranteed, burstable, aPod()], { root: "/", driver: "cgroupfs", allocatable: node.allocatable }),
    [
      { path: "/kubepods", resources: { cpuShares: 4096, memoryLimitBytes: 8 * GIB } },
      { path: "/kubepods/burstable", resources: { cpuShares: 512 } },
      { path: "/kubepods/besteffort", resources: { cpuShares: 2 } },
    ],
  );
});
