import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readNodeSample, type NodeSample } from "./node-sample.ts";
import { quantitiesOf, usageBetween, type Usage } from "./usage.ts";

const PAGE = [
  'container_cpu_usage_seconds_total{container="main",pod="web",namespace="default"} 12.5 10000',
  'container_memory_working_set_bytes{container="main",pod="web",namespace="default"} 2048 10000',
  'container_start_time_seconds{container="main",pod="web",namespace="default"} 1.5',
  'container_cpu_usage_seconds_total{container="half",pod="new",namespace="default"} 1 10000',
  "node_cpu_usage_seconds_total 100 11000",
  "node_memory_working_set_bytes 4096 11000",
].join("\n");

test("readNodeSample reads the node and the containers for which both CPU and memory are known", () => {
  deepEqual(readNodeSample(PAGE, 12_000), {
    atMs: 12_000,
    node: { atMs: 11_000, cpuSeconds: 100, memoryBytes: 4_096 },
    pods: new Map([
      ["default/web", new Map([["main", { atMs: 10_000, cpuSeconds: 12.5, memoryBytes: 2_048, startedAtMs: 1_500 }]])],
      ["default/new", new Map()],
    ]),
  });
});

/** One container of one Pod. */
function sample(atMs: number, cpuSeconds: number, startedAtMs = 0): NodeSample {
  return { atMs, pods: new Map([["a/b", new Map([["c", { atMs, cpuSeconds, memoryBytes: 1_024, startedAtMs }]])]]) };
}

function used(before: NodeSample | undefined, now: NodeSample): Usage | undefined {
  return usageBetween(before, now).pods.get("a/b")?.get("c");
}

const rows: readonly [title: string, before: NodeSample | undefined, now: NodeSample, expected: readonly [number, number] | undefined][] = [
  ["CPU is the average between the two samples", sample(10_000, 1), sample(25_000, 4), [15_000, 200_000_000]],
  ["a container without an earlier sample counts from its start", undefined, sample(30_000, 2, 10_000), [20_000, 100_000_000]],
  ["one that has just started is missing", undefined, sample(15_000, 2, 10_000), undefined],
  ["a restarted container counts from its new start", sample(10_000, 500), sample(40_000, 2, 20_000), [20_000, 100_000_000]],
  ["a counter that went back is missing", sample(10_000, 5), sample(20_000, 1), undefined],
  ["a sample of the same instant is missing", sample(10_000, 5), sample(10_000, 5), undefined],
];
for (const [title, before, now, expected] of rows) {
  test(`usageBetween: ${title}`, () => {
    const usage = used(before, now);
    deepEqual(usage && [usage.windowMs, usage.cpuNanocores], expected);
  });
}

test("usageBetween omits a Pod of which one container is unknown, and a node without an earlier sample", () => {
  const fresh = { atMs: 9_000, cpuSeconds: 1, memoryBytes: 1, startedAtMs: 8_000 };
  const old = { atMs: 9_000, cpuSeconds: 1, memoryBytes: 1, startedAtMs: 0 };
  const containers = new Map(Object.entries({ fresh, old }));

  deepEqual(usageBetween(undefined, { atMs: 9_000, node: old, pods: new Map([["a/b", containers]]) }).pods, new Map());
});

test("quantitiesOf writes nanocores and binary units", () => {
  const at = { atMs: 0, windowMs: 1_000 };
  deepEqual(quantitiesOf({ ...at, cpuNanocores: 1_234_567, memoryBytes: 20_480 }), { cpu: "1234567n", memory: "20Ki" });
  deepEqual(quantitiesOf({ ...at, cpuNanocores: 250_000_000, memoryBytes: 1_000.4 }), { cpu: "250m", memory: "1k" });
});
