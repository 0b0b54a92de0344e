/**
 * `npm run bench -- cluster`: cost of a cluster inside a test. Time to start, leaks over many starts and stops, memory; and a cluster with
 * thousands of simulated nodes: time until its Pods run, and CPU time when idle.
 */
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf, median } from "../figure.ts";
import type { ClusterTasks } from "./cluster-child.ts";

const STARTS = 100;
const FIRST_START_MS_MAX = 250;
/** Applies to the second and later clusters of a process. */
const START_MS_MAX = 50;

/** The first cycles fill caches and compile code. */
const CYCLES = { count: 200, stretches: 5 };
/** Tolerated difference of the heap over 800 clusters; uncollected garbage amounts to a few megabytes. */
const GROWTH_BYTES_MAX = 4_000_000;

const LIVE = 50;

const NODES = 5_000;
const PODS = 10_000;
const NODES_MS_MAX = 10_000;
const PODS_MS_MAX = 20_000;
const IDLE = { seconds: 5, stretches: 4 };

export const clusterStarts: Benchmark = {
  name: "cluster/start",
  measures: "startCluster: first and later starts in a process, growth over 1,000 starts and stops, memory of 50 concurrent clusters",
  async *run({ signal, rounds }) {
    const inNewChild = async <Name extends keyof ClusterTasks>(
      task: Name,
      input: Parameters<ClusterTasks[Name]>[0],
    ): Promise<Awaited<ReturnType<ClusterTasks[Name]>>> => {
      await using child = startChild<ClusterTasks>(import.meta.url, "cluster-child", signal);
      return await child.call(task, input);
    };
    const { starts } = await rounds.measure({ starts: () => inNewChild("starts", { count: STARTS }) }, 3);
    const budget = { atMost: START_MS_MAX };
    yield figureOf({
      name: "cluster/start-first",
      unit: "ms",
      values: starts.map(([first = Number.NaN]) => first),
      budget: { atMost: FIRST_START_MS_MAX },
    });
    yield figureOf({ name: "cluster/start-second", unit: "ms", values: starts.map(([, second = Number.NaN]) => second), budget });
    yield figureOf({ name: "cluster/start-later", unit: "ms", values: starts.map(([, ...later]) => median(later)), budget });
    yield figureOf({ name: "cluster/start-hundredth", unit: "ms", values: starts.map((all) => all.at(-1) ?? Number.NaN), budget });

    const held = await inNewChild("cycles", CYCLES);
    const [first, last] = [held[0], held.at(-1)];
    if (first === undefined || last === undefined) throw new Error("No cycle was measured");
    const growth = { heap: last.heapBytes - first.heapBytes, handles: last.handles - first.handles };
    yield figureOf({
      name: "cluster/start-1000-cycles-heap-growth",
      unit: "bytes",
      values: [growth.heap],
      budget: { atMost: GROWTH_BYTES_MAX },
    });
    yield figureOf({ name: "cluster/start-1000-cycles-handles-growth", unit: "handles", values: [growth.handles], budget: { atMost: 0 } });

    const live = await inNewChild("live", { count: LIVE });
    yield figureOf({ name: "cluster/start-heap-each", unit: "bytes", values: [live.heapBytes] });
    yield figureOf({ name: "cluster/start-resident-each", unit: "bytes", values: [live.residentBytes] });
  },
};

export const clusterLarge: Benchmark = {
  name: "cluster/large",
  measures: "5,000 simulated nodes until all are Ready, 10,000 Pods until all are Running, and CPU time when idle",
  async *run({ signal, note }) {
    note("each runs once");
    await using child = startChild<ClusterTasks>(import.meta.url, "cluster-child", signal);
    yield figureOf({
      name: "cluster/large-5000-nodes-ready",
      unit: "ms",
      values: [await child.call("readyNodes", { count: NODES })],
      budget: { atMost: NODES_MS_MAX },
    });
    yield figureOf({
      name: "cluster/large-10000-pods-running",
      unit: "ms",
      values: [await child.call("runningPods", { count: PODS })],
      budget: { atMost: PODS_MS_MAX },
    });
    yield figureOf({ name: "cluster/large-idle-cpu", unit: "ms/s", values: await child.call("idle", IDLE) });
  },
};
