import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { prometheusText } from "../../../base/metrics/prometheus-text.ts";
import type { PodStorage } from "../../contracts/pod-storage.ts";
import type { PodStats, SandboxStatus } from "../../contracts/runtime.ts";
import { completeStats } from "./live-statistics.ts";
import type { NodeNumbers } from "./node-statistics.ts";
import { resourceFamilies } from "./resource-metrics.ts";
import { statsSummary } from "./stats-summary.ts";

const SANDBOX: SandboxStatus = {
  ...{ id: "s", podUid: "u-1", namespace: "default", name: "web", state: "ready", createdAtMs: 60_000, ips: [] },
  containers: [
    {
      ...{ id: "c", name: "main", attempt: 0, image: "web:1", imageId: "sha256:1", createdAtMs: 60_000 },
      state: { is: "running", startedAtMs: 61_500 },
    },
  ],
};

const POD: PodStats = {
  ...{ podUid: "u-1", namespace: "default", name: "web", network: { rxBytes: 10, txBytes: 20 } },
  containers: [
    {
      ...{ id: "c", name: "main", atMs: 120_500, cpuNanoseconds: 2_500_000_000, cpuNanocores: 1_000, memoryWorkingSetBytes: 4_096 },
      ...{ memoryUsageBytes: 8_192, memoryRssBytes: 1_024, writableLayerBytes: 512, writableLayerInodes: 3 },
    },
    { id: "d", name: "made" },
  ],
};

const NODE: NodeNumbers = {
  ...{
    atMs: 121_000,
    cpuNanoseconds: 9e9,
    cpuNanocores: 5_000,
    memoryWorkingSetBytes: 1 << 20,
    memoryAvailableBytes: 2 << 20,
    startedAtMs: 1_000,
  },
  network: { name: "eth0", rxBytes: 1, txBytes: 2 },
  rootFilesystem: { availableBytes: 1, capacityBytes: 3, usedBytes: 2 },
  imageFilesystem: { availableBytes: 4, capacityBytes: 9, usedBytes: 5 },
  processes: { running: 7, max: 100 },
};

const INPUT = { nodeName: "n1", nowMs: 122_000, node: NODE, pods: [POD], sandboxes: [SANDBOX] };

const USED = {
  cpu: { time: "1970-01-01T00:02:00Z", usageNanoCores: 1_000, usageCoreNanoSeconds: 2_500_000_000 },
  memory: { time: "1970-01-01T00:02:00Z", usageBytes: 8_192, workingSetBytes: 4_096, rssBytes: 1_024 },
};

const link = (name: string, rxBytes: number, txBytes: number) => {
  const one = { name, rxBytes, rxErrors: 0, txBytes, txErrors: 0 };
  return { time: "1970-01-01T00:02:02Z", ...one, interfaces: [one] };
};

test("the summary has usage of the node, its Pods and their containers; a Pod without usage of its own is the sum of its containers", () => {
  deepEqual(statsSummary(INPUT), {
    node: {
      nodeName: "n1",
      startTime: "1970-01-01T00:00:01Z",
      cpu: { time: "1970-01-01T00:02:01Z", usageNanoCores: 5_000, usageCoreNanoSeconds: 9e9 },
      memory: { time: "1970-01-01T00:02:01Z", availableBytes: 2 << 20, workingSetBytes: 1 << 20 },
      network: link("eth0", 1, 2),
      fs: { time: "1970-01-01T00:02:02Z", availableBytes: 1, capacityBytes: 3, usedBytes: 2 },
      runtime: { imageFs: { time: "1970-01-01T00:02:02Z", availableBytes: 4, capacityBytes: 9, usedBytes: 5 } },
      rlimit: { time: "1970-01-01T00:02:02Z", maxpid: 100, curproc: 7 },
    },
    pods: [
      {
        podRef: { name: "web", namespace: "default", uid: "u-1" },
        startTime: "1970-01-01T00:01:00Z",
        containers: [
          {
            name: "main",
            startTime: "1970-01-01T00:01:01Z",
            ...USED,
            rootfs: { time: "1970-01-01T00:02:00Z", availableBytes: 4, capacityBytes: 9, usedBytes: 512, inodesUsed: 3 },
          },
        ],
        cpu: USED.cpu,
        memory: { ...USED.memory, pageFaults: 0, majorPageFaults: 0 },
        network: link("eth0", 10, 20),
      },
    ],
  });
});

test("a summary with onlyCpuAndMemory has no networks and no filesystems", () => {
  const { node, pods } = statsSummary(INPUT, { onlyCpuAndMemory: true });

  deepEqual(Object.keys(node), ["nodeName", "startTime", "cpu", "memory"]);
  deepEqual(Object.keys(pods[0] ?? {}), ["podRef", "startTime", "containers", "cpu", "memory"]);
  deepEqual(Object.keys(pods[0]?.containers[0] ?? {}), ["name", "startTime", "cpu", "memory"]);
});

test("the summary has disk usage of Pods, and the ephemeral part of it", () => {
  const disk = { availableBytes: 60, capacityBytes: 100, usedBytes: 40, inodes: 10, inodesFree: 4, inodesUsed: 6 };
  const used = (usedBytes: number, inodesUsed: number) => ({ usedBytes, inodesUsed });
  const storage: PodStorage = {
    volumes: [
      { name: "scratch", isEphemeral: true, filesystem: disk, used: used(7, 2) },
      { name: "memory", isEphemeral: false, filesystem: disk, used: used(1_000, 100) },
      { name: "huge", isEphemeral: true, filesystem: disk },
    ],
    logs: new Map([["main", used(20, 1)]]),
    hostsFile: used(3, 1),
  };
  const node = { ...NODE, rootFilesystem: disk, containerFilesystem: { ...disk, capacityBytes: 200 } };
  const summary = statsSummary({ ...INPUT, node, pods: [{ ...POD, processes: 4 }], storage: new Map([["u-1", storage]]) });

  const [pod] = summary.pods;
  const time = "1970-01-01T00:02:02Z";
  const free = { availableBytes: 60, capacityBytes: 100, inodesFree: 4, inodes: 10 };
  deepEqual(pod?.volume, [
    { time, ...free, name: "scratch", usedBytes: 7, inodesUsed: 2 },
    { time, ...free, name: "memory", usedBytes: 1_000, inodesUsed: 100 },
    { time, ...free, name: "huge" },
  ]);
  deepEqual(pod?.containers[0]?.logs, { time, ...free, usedBytes: 20, inodesUsed: 1 });
  deepEqual(pod?.containers[0]?.rootfs, { time: USED.cpu.time, ...free, capacityBytes: 200, usedBytes: 512, inodesUsed: 3 });
  deepEqual(pod?.["ephemeral-storage"], { time, ...free, usedBytes: 7 + 20 + 3 + 512, inodesUsed: 2 + 1 + 1 + 3 });
  deepEqual([pod?.process_stats, pod?.containers[1]?.logs], [{ process_count: 4 }, undefined]);
});

test("the summary of a node without statistics has its name and Pods", () => {
  deepEqual(statsSummary({ ...INPUT, node: {}, pods: [], sandboxes: [] }), { node: { nodeName: "n1", startTime: null }, pods: [] });
});

test("resource metrics have upstream's names and timestamps, and omit unknown values", () => {
  equal(
    prometheusText(resourceFamilies(INPUT))
      .split("\n")
      .filter((line) => !line.startsWith("#"))
      .join("\n"),
    [
      'container_cpu_usage_seconds_total{container="main",pod="web",namespace="default"} 2.5 120500',
      'container_memory_working_set_bytes{container="main",pod="web",namespace="default"} 4096 120500',
      'container_start_time_seconds{container="main",pod="web",namespace="default"} 61.5',
      "node_cpu_usage_seconds_total 9 121000",
      "node_memory_working_set_bytes 1048576 121000",
      "resource_scrape_error 0",
      "",
    ].join("\n"),
  );
});

test("Pod-level resource metrics are exposed if the runtime reports them", () => {
  const pods = [{ ...POD, atMs: 1, cpuNanoseconds: 1e9, memoryWorkingSetBytes: 5 }];

  deepEqual(
    resourceFamilies({ ...INPUT, pods })
      .filter(({ name }) => name.startsWith("pod_"))
      .map(({ name, samples }) => [name, samples[0]]),
    [
      ["pod_cpu_usage_seconds_total", { labels: { pod: "web", namespace: "default" }, value: 1, atMs: 1 }],
      ["pod_memory_working_set_bytes", { labels: { pod: "web", namespace: "default" }, value: 5, atMs: 1 }],
    ],
  );
});

test("unavailable statistics set resource_scrape_error", () => {
  equal(prometheusText(resourceFamilies(undefined)).split("\n").at(-2), "resource_scrape_error 1");
});

test("a container without all statistics that clients rely on is omitted", () => {
  const reading = { atMs: 1, cpuNanoseconds: 1, memoryWorkingSetBytes: 1, memoryUsageBytes: 1, memoryRssBytes: 1 };
  for (const missing of ["cpuNanoseconds", "memoryWorkingSetBytes", "memoryUsageBytes", "memoryRssBytes"]) {
    const { [missing]: _left, ...rest } = reading as Readonly<Record<string, number>>;
    const { pods } = statsSummary({ ...INPUT, pods: [{ ...POD, containers: [{ id: "c", name: "main", ...rest }] }] });
    deepEqual([pods[0]?.containers, pods[0]?.memory], [[], undefined], missing);
  }
});

test("the control group of all Pods is a system container with CPU and memory", () => {
  const pods = { atMs: 120_000, cpuNanoseconds: 7, cpuNanocores: 3, memoryWorkingSetBytes: 1, memoryUsageBytes: 2, memoryRssBytes: 1 };
  const { node } = statsSummary({
    ...INPUT,
    node: { ...NODE, systemContainers: [{ name: "pods", ...pods, pageFaults: 5, majorPageFaults: 4 }] },
  });

  const time = "1970-01-01T00:02:00Z";
  deepEqual(node.systemContainers, [
    {
      name: "pods",
      startTime: null,
      cpu: { time, usageNanoCores: 3, usageCoreNanoSeconds: 7 },
      memory: { time, usageBytes: 2, workingSetBytes: 1, rssBytes: 1, pageFaults: 5, majorPageFaults: 4 },
    },
  ]);
});

test("statistics that a runtime omits are read from the control groups of Pods and containers", async () => {
  const whole = { atMs: 1, cpuNanoseconds: 10, memoryWorkingSetBytes: 20, memoryUsageBytes: 30, memoryRssBytes: 40 };
  const asked: string[] = [];
  const [pod] = await completeStats([{ ...POD, containers: [{ id: "c", name: "main", memoryWorkingSetBytes: 5 }] }], {
    cgroupOf: (podUid, containerId) => `/${podUid}/${containerId ?? ""}`,
    cgroupUsage: (cgroup) => {
      asked.push(cgroup);
      return Promise.resolve(whole);
    },
  });

  deepEqual(asked.toSorted(), ["/u-1/", "/u-1/c"]);
  deepEqual(pod?.containers, [{ ...whole, id: "c", name: "main", memoryWorkingSetBytes: 5 }]);
  equal(pod.memoryRssBytes, 40);
});
