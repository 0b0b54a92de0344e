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
  test(`the Pod cgroup below ${root} is ${path} with the ${driver} driver`, () => {
    assert.equal(podCgroup(aPod({ containers: [aContainer({ resources })] }), { root, driver }).path, path);
    assert.ok(possiblePodCgroups("u-1", { root, driver }).includes(path), "it is found by the uid alone");
  });
}

const GIB = 1024 ** 3;

const limits: readonly (readonly [claim: string, spec: Partial<PodSpec>, resources: LinuxResources])[] = [
  ["BestEffort has the minimum", {}, { cpuShares: 2 }],
  [
    "Guaranteed has the sum of its containers",
    { containers: [aContainer({ resources: GUARANTEED }), aContainer({ name: "b", resources: GUARANTEED })] },
    { cpuShares: 2048, cpuQuota: 200_000, cpuPeriod: 100_000, memoryLimitBytes: 2 * GIB },
  ],
  [
    "a container without a limit leaves the Pod unlimited",
    {
      containers: [
        aContainer({ resources: { limits: { cpu: "1", memory: "1Gi" } } }),
        aContainer({ name: "b", resources: { limits: { memory: "1Gi" } } }),
      ],
    },
    { cpuShares: 2, memoryLimitBytes: 2 * GIB },
  ],
  [
    "an init container without a limit leaves the Pod unlimited",
    { containers: [aContainer({ resources: GUARANTEED })], initContainers: [aContainer({ name: "init" })] },
    { cpuShares: 1024 },
  ],
  [
    "Pod-level limits apply, plus the overhead",
    { resources: { requests: { cpu: "1" }, limits: { cpu: "2", memory: "1Gi" } }, overhead: { cpu: "250m", memory: "1Gi" } },
    { cpuShares: 1280, cpuQuota: 225_000, cpuPeriod: 100_000, memoryLimitBytes: 2 * GIB },
  ],
  [
    "huge pages equal the request",
    { containers: [aContainer({ resources: { requests: { "hugepages-2Mi": "4Mi", cpu: "1" }, limits: { "hugepages-2Mi": "4Mi" } } })] },
    { cpuShares: 1024, hugepageLimits: [{ pageSize: "2MB", limit: 4 * 1024 ** 2 }] },
  ],
];

for (const [claim, spec, resources] of limits) {
  test(`Pod cgroup: ${claim}`, () => {
    assert.deepEqual(podCgroup(aPod(spec), node.cgroups).resources, resources);
  });
}

test("the QoS cgroups of the node have the requests of all their Pods", () => {
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
