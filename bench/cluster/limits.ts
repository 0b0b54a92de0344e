/**
 * `npm run bench -- cluster/limits`: a cluster of the largest size that Kubernetes supports, in one process, under constant change, and a
 * fork of it. The limits are upstream's service level objectives. Without --full it has fewer Pods for a shorter time.
 */
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LimitsTasks } from "./limits-child.ts";
import { changePods, type LoadResult } from "./limits-load.ts";

/** Kubernetes' "considerations for large clusters": at most 5,000 nodes, 150,000 Pods, and 110 Pods per node. */
const NODES = 5_000;
const FULL = { count: 150_000, seconds: 600 };
const SHORT = { count: 15_000, seconds: 60 };
const NAMESPACES = 100;
const CHANGES_PER_SECOND = 20;

/** Upstream's objectives: 1 s for single objects, 5 s for a list of a namespace, 5 s until a Pod runs; each at the 99th percentile. */
const SINGLE_MS_MAX = 1_000;
const LIST_MS_MAX = 5_000;
const START_MS_MAX = 5_000;
const FORK_MS_MAX = 2_000;

/** V8's default is 4 GB at most. */
const HEAP_MB = 12_000;

export const clusterLimits: Benchmark = {
  name: "cluster/limits",
  measures: "5,000 nodes and 15,000 Pods (--full: 150,000) at 20 Pod changes/s for a minute (--full: 10): API latency, resources, a fork",
  async *run({ signal, note, isFull }) {
    const { count, seconds } = isFull ? FULL : SHORT;
    note(`once, with ${NODES} nodes and ${count} Pods for ${seconds} s${isFull ? "" : "; --full has 150000 for 600 s"}`);
    const name = `cluster/limits-${count}-pods`;
    await using child = startChild<LimitsTasks>(import.meta.url, "limits-child", signal, { heapMb: HEAP_MB });
    const { readyMs, kubeconfig } = await child.call("start", { nodes: NODES });
    yield figureOf({ name: `cluster/limits-${NODES}-nodes-ready`, unit: "ms", values: [readyMs] });
    const filled = await child.call("fill", { count, namespaceCount: NAMESPACES });
    yield figureOf({ name: `${name}-running`, unit: "ms", values: [filled.tookMs] });
    yield figureOf({ name: `${name}-running-cpu-per-pod`, unit: "µs", values: [(filled.cpuMs / count) * 1_000] });

    await child.call("startMeasuring", undefined);
    const load = await changePods({ kubeconfig, seconds, changesPerSecond: CHANGES_PER_SECOND, namespaceCount: NAMESPACES, signal });
    const cost = await child.call("stopMeasuring", undefined);
    if (load.failed[0] !== undefined) note(`the first request that failed: ${load.failed[0]}`);
    yield* loadFigures(name, load);
    yield figureOf({ name: `${name}-resident`, unit: "bytes", values: [cost.residentBytes] });
    yield figureOf({ name: `${name}-heap`, unit: "bytes", values: [cost.heapBytes] });
    yield figureOf({ name: `${name}-cpu`, unit: "%", values: [cost.cpuPercent] });
    yield figureOf({ name: `${name}-longest-hold`, unit: "ms", values: [cost.longestHoldMs] });

    const { forkMs, runningMs } = await child.call("fork", undefined);
    yield figureOf({ name: `${name}-fork`, unit: "ms", values: [forkMs], budget: { atMost: FORK_MS_MAX } });
    yield figureOf({ name: `${name}-fork-pod-running`, unit: "ms", values: [runningMs] });
  },
};

function* loadFigures(name: string, { single, lists, starts, failed }: LoadResult) {
  yield figureOf({ name: `${name}-failed-requests`, unit: "requests", values: [failed.length], budget: { atMost: 0 } });
  const rows = [
    { part: "request", values: single, atMost: SINGLE_MS_MAX },
    { part: "list", values: lists, atMost: LIST_MS_MAX },
    { part: "pod-start", values: starts, atMost: START_MS_MAX },
  ];
  for (const { part, values, atMost } of rows) {
    yield figureOf({ name: `${name}-${part}-p50`, unit: "ms", values: [quantile(values, 0.5)] });
    yield figureOf({ name: `${name}-${part}-p99`, unit: "ms", values: [quantile(values, 0.99)], budget: { atMost } });
  }
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
