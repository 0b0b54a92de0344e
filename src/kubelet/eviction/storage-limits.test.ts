import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { PodSpec } from "../../api/generated/core/v1.ts";
import { buildPod } from "../../api/testing/pod.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { silentLogger } from "../../base/logger.ts";
import type { PodStorage } from "../contracts/pod-storage.ts";
import { evictExceeding } from "./storage-eviction.ts";
import { evictionOf, hasStorageLimit, type LocalUsage } from "./storage-limits.ts";

const MEBIBYTE = 2 ** 20;
const DISK = { availableBytes: 0, capacityBytes: 0, usedBytes: 0 };

function aPod(spec: Partial<PodSpec>) {
  return buildPod({ metadata: { uid: "u", namespace: "ns" }, spec: { containers: [{ name: "c", image: "i" }], ...spec } });
}

function limited(storage: string) {
  return { name: "c", image: "i", resources: { limits: { "ephemeral-storage": storage } } };
}

/** In mebibytes. */
function usage({ volume = 0, log = 0, layer = 0, hosts = 0 }): LocalUsage {
  const of = (mebibytes: number) => ({ usedBytes: mebibytes * MEBIBYTE, inodesUsed: 1 });
  const storage: PodStorage = {
    volumes: [{ name: "v", isEphemeral: true, filesystem: DISK, used: of(volume) }],
    logs: new Map([["c", of(log)]]),
    hostsFile: of(hosts),
  };
  return { storage, containers: [{ name: "c", writableLayerBytes: layer * MEBIBYTE }] };
}

const EMPTY_DIR = { volumes: [{ name: "v", emptyDir: { sizeLimit: "10Mi" } }] };
const TWO = { containers: [limited("10Mi"), { ...limited("20Mi"), name: "d" }] };

for (const [title, spec, used, message] of [
  ["an emptyDir over its limit", EMPTY_DIR, { volume: 11 }, 'Usage of EmptyDir volume "v" exceeds the limit "10Mi". '],
  ["an emptyDir at its limit", EMPTY_DIR, { volume: 10 }, undefined],
  ["an emptyDir without a limit", { volumes: [{ name: "v", emptyDir: {} }] }, { volume: 99 }, undefined],
  [
    "volumes, logs, layers and hosts file over the limits of all containers together",
    TWO,
    { volume: 25, log: 2, layer: 2, hosts: 2 },
    "Pod ephemeral local storage usage exceeds the total limit of containers 30Mi. ",
  ],
  ["a container over its own limit", TWO, { log: 6, layer: 5 }, 'Container c exceeded its local ephemeral storage limit "10Mi". '],
  ["everything within limits", TWO, { log: 5, layer: 5, volume: 20 }, undefined],
  ["one container without a limit", { containers: [limited("10Mi"), { name: "d", image: "i" }] }, { log: 9 }, undefined],
] as const) {
  test(`a Pod with ${title} is ${message === undefined ? "kept" : "evicted with upstream's message"}`, () => {
    equal(evictionOf(aPod(spec), usage(used))?.message, message);
  });
}

test("only Pods with a limit are measured", () => {
  deepEqual(
    [EMPTY_DIR, TWO, {}, { volumes: [{ name: "v", emptyDir: {} }] }].map((spec) => hasStorageLimit(aPod(spec))),
    [true, true, false, false],
  );
});

test("a pass evicts Pods over their limits and keeps critical ones and those that cannot be measured", async () => {
  const evicted: string[] = [];
  const signals: string[] = [];
  const pod = (uid: string, spec: Partial<PodSpec>) => buildPod({ metadata: { uid }, spec: { containers: [], ...EMPTY_DIR, ...spec } });

  await evictExceeding({
    pods: () => [pod("over", {}), pod("critical", { priority: 2_000_000_000 }), pod("removed", {})],
    async storageOf({ metadata }) {
      if (metadata.uid === "removed") throw new Error("removed");
      return usage({ volume: 11 }).storage;
    },
    stats: async () => [],
    evict: (podUid, message) => evicted.push(`${podUid}: ${message}`),
    metrics: { evicted: (signal) => signals.push(signal) },
    clock: virtualClock(),
    log: silentLogger,
  });

  deepEqual([evicted, signals], [['over: Usage of EmptyDir volume "v" exceeds the limit "10Mi". '], ["emptydirfs.limit"]]);
});
