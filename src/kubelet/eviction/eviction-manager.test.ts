import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Pod, PodSpec } from "../../api/generated/core/v1.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { silentLogger } from "../../base/logger.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import type { PodStats } from "../contracts/runtime.ts";
import { pressureRefusal } from "./admit-under-pressure.ts";
import { EvictionManager, type EvictionManagerOptions } from "./eviction-manager.ts";
import { evictionMessage, measuredParts, rankedPods, type PodUsage } from "./rank-pods.ts";
import type { NodeUsage, PressureCondition, StarvedResource } from "./signals.ts";
import { parseThresholds, type SignalMap } from "./thresholds.ts";

const MIB = 2 ** 20;

function aPod(name: string, spec: Partial<PodSpec> = {}, requests: Readonly<Record<string, string>> = {}): Pod {
  return buildPod({
    metadata: { name, namespace: "default", uid: name },
    spec: { containers: [{ name: "c", image: "i:1", resources: { requests } }], ...spec },
  });
}

interface Used {
  readonly memory?: number;
  readonly processes?: number;
  readonly layer?: number;
  readonly logs?: number;
}

function usage(name: string, { memory = 0, processes = 0, layer = 0, logs = 0 }: Used): PodUsage {
  const own = { atMs: 0, cpuNanoseconds: 0, memoryWorkingSetBytes: memory };
  const containers = [{ id: name, name: "c", ...own, writableLayerBytes: layer, writableLayerInodes: layer }];
  const stats: PodStats = { podUid: name, namespace: "default", name, containers, ...own, processes };
  return { stats, storage: { volumes: [], logs: new Map([["c", { usedBytes: logs, inodesUsed: logs }]]) } };
}

const RANKING: readonly {
  readonly title: string;
  readonly resource: StarvedResource;
  readonly pods: Readonly<Record<string, { readonly priority?: number; readonly request?: string; readonly used?: Used }>>;
  readonly hasImageFilesystem?: boolean;
  readonly expected: readonly string[];
}[] = [
  {
    title: "Pods that exceed their requests come first, then lower priorities, then larger excess",
    resource: "memory",
    pods: {
      within: { request: "100", used: { memory: 90 } },
      less: { request: "100", used: { memory: 110 } },
      more: { request: "100", used: { memory: 150 } },
      important: { priority: 10, used: { memory: 1_000 } },
    },
    expected: ["more", "less", "important", "within"],
  },
  {
    title: "a Pod without statistics is first",
    resource: "memory",
    pods: { a: { used: { memory: 5 } }, unknown: {} },
    expected: ["unknown", "a"],
  },
  {
    title: "PIDs have no requests",
    resource: "pids",
    pods: { few: { used: { processes: 1 } }, many: { used: { processes: 9 } }, important: { priority: 1, used: { processes: 99 } } },
    expected: ["many", "few", "important"],
  },
  {
    title: "one file system counts layers and logs together",
    resource: "ephemeral-storage",
    pods: { layered: { used: { layer: 5 } }, logging: { used: { layer: 1, logs: 9 } } },
    expected: ["logging", "layered"],
  },
  {
    title: "a file system for images has the writable layers only",
    resource: "inodes",
    hasImageFilesystem: true,
    pods: { layered: { used: { layer: 5 } }, logging: { used: { layer: 1, logs: 9 } } },
    expected: ["layered", "logging"],
  },
];

for (const { title, resource, pods, hasImageFilesystem = false, expected } of RANKING) {
  test(`ranking for ${resource}: ${title}`, () => {
    const all = Object.entries(pods).map(([name, { priority, request }]) =>
      aPod(name, priority === undefined ? {} : { priority }, request === undefined ? {} : { [resource]: request }),
    );
    const parts = measuredParts("imagefs.available", { hasImageFilesystem });
    const usageOf = ({ metadata: { name } }: Pod): PodUsage => {
      const used = pods[name]?.used;
      return used === undefined ? {} : usage(name, used);
    };
    // Already in the spec: a Pod has one container.
    const specified = all.map((pod) => {
      const request = pods[pod.metadata.name]?.request;
      return request === undefined
        ? pod
        : aPod(pod.metadata.name, pod.spec?.priority === undefined ? {} : { priority: pod.spec.priority }, { [resource]: request });
    });
    deepEqual(
      rankedPods(specified, { resource, parts, usageOf }).map(({ metadata }) => metadata.name),
      expected,
    );
  });
}

test("the message of an eviction names threshold, available amount and containers beyond their requests", () => {
  const [threshold] = parseThresholds({ hard: { "memory.available": "100Mi" }, soft: {}, softGracePeriods: {}, minReclaim: {} }).thresholds;
  if (threshold === undefined) throw new Error("The threshold is valid");
  const observations = new Map([["memory.available" as const, { available: 96 * MIB, capacity: 1024 * MIB }]]);
  const pod = aPod("p", {}, { memory: "10Mi" });
  equal(
    evictionMessage(pod, { threshold, observations, usage: usage("p", { memory: 20 * MIB }) }),
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 96Mi. " +
      "Container c was using 20Mi, request is 10Mi, has larger consumption of memory. ",
  );
  equal(
    evictionMessage(pod, { threshold, observations, usage: {} }),
    "The node was low on resource: memory. Threshold quantity: 100Mi, available: 96Mi. ",
  );
});

const TOLERATION = { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" } as const;

for (const { conditions, pod, isAdmitted } of [
  { conditions: [], pod: aPod("p"), isAdmitted: true },
  { conditions: ["DiskPressure"], pod: aPod("p", {}, { memory: "1Mi" }), isAdmitted: false },
  { conditions: ["DiskPressure"], pod: aPod("p", { priority: 2_000_000_000 }), isAdmitted: true },
  { conditions: ["MemoryPressure"], pod: aPod("p"), isAdmitted: false },
  { conditions: ["MemoryPressure"], pod: aPod("p", {}, { memory: "1Mi" }), isAdmitted: true },
  { conditions: ["MemoryPressure"], pod: aPod("p", { tolerations: [TOLERATION] }), isAdmitted: true },
  { conditions: ["DiskPressure", "MemoryPressure"], pod: aPod("p", {}, { memory: "1Mi" }), isAdmitted: false },
] as readonly { readonly conditions: readonly PressureCondition[]; readonly pod: Pod; readonly isAdmitted: boolean }[]) {
  const { priority, tolerations, containers } = pod.spec ?? { containers: [] };
  const what = JSON.stringify({ priority, tolerations, requests: containers[0]?.resources?.requests });
  test(`a node with [${conditions.join(" ")}] ${isAdmitted ? "admits" : "rejects"} a Pod with ${what}`, () =>
    equal(pressureRefusal(pod, conditions) === undefined, isAdmitted));
}

// ── the manager ─────────────────────────────────────────────────────────────────────────────────────

class Node {
  readonly clock = virtualClock();
  readonly said: string[] = [];
  pods = [aPod("large"), aPod("critical", { priority: 2_000_000_000 }), aPod("small", { terminationGracePeriodSeconds: 20 })];
  /** Percentages. */
  disk = 50;
  memory = 50;
  /** Percentage of the disk that images give back. */
  images = 0;
  readonly #manager: EvictionManager;

  constructor(hard: SignalMap, more: Partial<EvictionManagerOptions> = {}) {
    this.#manager = new EvictionManager({
      thresholds: parseThresholds({ hard, soft: {}, softGracePeriods: {}, minReclaim: {} }).thresholds,
      transitionMs: 300_000,
      maxPodGraceSeconds: 0,
      usage: () => Promise.resolve(this.#usage()),
      hasImageFilesystem: () => Promise.resolve(false),
      pods: () => this.pods,
      stats: () =>
        Promise.resolve([
          ...[usage("large", { memory: 9, layer: 9 }), usage("critical", { memory: 99, layer: 99 })].flatMap(({ stats }) => stats ?? []),
          ...[usage("small", { memory: 1, layer: 1 })].flatMap(({ stats }) => stats ?? []),
        ]),
      storageOf: () => Promise.resolve({ volumes: [], logs: new Map() }),
      reclaimDisk: () => {
        this.said.push("reclaim");
        this.disk += this.images;
        return Promise.resolve();
      },
      report: (conditions) => {
        if (conditions.length > 0) this.said.push(`condition ${conditions.join(" ")}`);
      },
      evict: (podUid, { message, graceMs }) => void this.said.push(`evict ${podUid} ${graceMs ?? "at once"}: ${message}`),
      record: ({ reason, message }) => void this.said.push(`${reason} ${message}`),
      ...{ clock: this.clock, log: silentLogger },
      ...more,
    });
  }

  #usage(): NodeUsage {
    const rootFilesystem = { availableBytes: this.disk * MIB, capacityBytes: 100 * MIB, usedBytes: 0 };
    return { memoryAvailableBytes: this.memory * MIB, memoryWorkingSetBytes: (100 - this.memory) * MIB, rootFilesystem };
  }

  async sync(): Promise<readonly string[]> {
    this.said.length = 0;
    await this.#manager.sync();
    return [...this.said];
  }
}

const DISK_LOW = "The node was low on resource: ephemeral-storage. Threshold quantity: 10Mi, available: 5Mi. ";

test("a node with enough of everything evicts nothing", async () => {
  deepEqual(await new Node({ "memory.available": "10%", "nodefs.available": "10%" }).sync(), []);
});

test("disk pressure removes images first, and evicts Pods only if that is not enough", async () => {
  const node = new Node({ "nodefs.available": "10%" });
  node.disk = 5;
  node.images = 20;
  const attempt = ["condition DiskPressure", "EvictionThresholdMet Attempting to reclaim ephemeral-storage", "reclaim"];
  deepEqual(await node.sync(), attempt);
  deepEqual(await node.sync(), ["condition DiskPressure"]);

  node.disk = 5;
  node.images = 0;
  deepEqual(await node.sync(), [...attempt, `evict large at once: ${DISK_LOW}`]);
});

test("one Pod is evicted at a time, and the next one when that has ended or did not end in time; critical Pods stay", async () => {
  const node = new Node({ "memory.available": "10%" });
  node.memory = 5;
  const evictions = async () => (await node.sync()).filter((line) => line.startsWith("evict")).map((line) => line.split(":")[0]);
  deepEqual(await evictions(), ["evict large at once"]);
  deepEqual(await evictions(), []);
  node.pods = node.pods.filter(({ metadata }) => metadata.name !== "large");
  deepEqual(await evictions(), ["evict small at once"]);
  await node.clock.advance(30_000);
  deepEqual(await evictions(), ["evict small at once"]);
  node.pods = node.pods.filter(({ metadata }) => metadata.name !== "small");
  deepEqual(await evictions(), []);
});

test("a soft threshold gives Pods their grace period, up to the maximum", async () => {
  const soft = { "memory.available": "10%" };
  const thresholds = parseThresholds({ hard: {}, soft, softGracePeriods: { "memory.available": "10s" }, minReclaim: {} }).thresholds;
  const node = new Node({}, { thresholds, maxPodGraceSeconds: 25 });
  node.memory = 5;
  deepEqual(await node.sync(), ["condition MemoryPressure"]);
  await node.clock.advance(10_000);
  equal((await node.sync()).at(-1)?.split(":")[0], "evict large 25000");
  node.pods = node.pods.filter(({ metadata }) => metadata.name !== "large");
  equal((await node.sync()).at(-1)?.split(":")[0], "evict small 20000");
});

test("images on a file system of their own are not removed when the node's is full", async () => {
  const node = new Node({ "nodefs.available": "10%" }, { hasImageFilesystem: () => Promise.resolve(true) });
  node.disk = 5;
  equal((await node.sync()).includes("reclaim"), false);
});

test("Pods are evicted although reclaiming disk space fails", async () => {
  const failing = { reclaimDisk: () => Promise.reject(new Error("no space left on device")) };
  const node = new Node({ "nodefs.available": "10%" }, failing);
  node.disk = 5;
  equal((await node.sync()).at(-1), `evict large at once: ${DISK_LOW}`);
});
