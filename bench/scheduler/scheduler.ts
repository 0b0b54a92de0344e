/**
 * `npm run bench -- scheduler`: upstream's scheduler_perf by name, one benchmark per workload, so that each can be run alone (`npm run
 * bench -- scheduler/SchedulingBasic`; with K8TS_BENCH_PROFILE=DIRECTORY its measured part is profiled). A figure is measured Pods per
 * second, from the creation of the first until a watch shows the last one as bound, with everything in one process; 30 concurrent clients
 * create Pods as fast as the server accepts them, as upstream does.
 */
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { SchedulerTasks } from "./scheduler-child.ts";
import { shrunk, workloads, type Size, type Workload } from "./workloads.ts";

/** Workloads with more Pods than this in total run once, so that a full run takes less than a quarter of an hour. */
const REPEATED_PODS_MAX = 7_000;
const REPETITIONS = 3;

/** Divisor of the size of the warm-up round, which does not count. */
const WARM_UP_FACTOR = 10;

const [BASIC] = workloads as readonly [Workload, ...Workload[]];

const GROWTH_NODES = [100, 1_000, 5_000, 15_000];
/** Fits on 100 nodes with capacity left. */
const GROWTH_PODS = { initPods: 500, measuredPods: 3_000 };

const growth: Benchmark = {
  name: "scheduler/growth",
  measures: "SchedulingBasic with 3,000 Pods on 100 to 15,000 nodes: Pods/s, and µs per Pod",
  async *run(context) {
    for (const nodes of GROWTH_NODES) {
      const size: Size = { name: `${nodes}-nodes`, nodes, ...GROWTH_PODS };
      const tookMs = await timesOf(BASIC, size, context);
      const [name, { measuredPods }] = [`scheduler/growth-${size.name}`, size];
      yield figureOf({ name, unit: "pods/s", values: tookMs.map((ms) => (measuredPods / ms) * 1_000) });
      yield figureOf({ name: `${name}-per-pod`, unit: "µs", values: tookMs.map((ms) => (ms / measuredPods) * 1_000) });
    }
  },
};

export const schedulerBenchmarks: readonly Benchmark[] = [...workloads.map((workload) => benchmarkOf(workload, "scheduler")), growth];

/** `room`: the first part of its name. */
export function benchmarkOf(workload: Workload, room: string): Benchmark {
  const [first] = workload.sizes as readonly [Size, ...Size[]];
  const floors = workload.sizes.flatMap(({ floor }) => (floor === undefined ? [] : [floor]));
  return {
    name: `${room}/${workload.name}`,
    measures: `pods/s, ${Math.max(first.nodes, 1)} nodes${floors.length === 0 ? "" : `, at least ${floors.join(" and ")}`}`,
    async *run(context) {
      for (const size of workload.sizes) yield await figureFor(workload, size, room, context);
    },
  };
}

async function figureFor(workload: Workload, size: Size, room: string, context: BenchmarkContext): Promise<Figure> {
  const tookMs = await timesOf(workload, size, context);
  return figureOf({
    name: `${room}/${workload.name}-${size.name}`,
    unit: "pods/s",
    values: tookMs.map((ms) => (size.measuredPods / ms) * 1_000),
    ...(size.floor === undefined ? {} : { budget: { atLeast: size.floor } }),
  });
}

/** In its own process, one cluster after the other. */
async function timesOf(workload: Workload, size: Size, { rounds, signal, note }: BenchmarkContext): Promise<readonly number[]> {
  await using child = startChild<SchedulerTasks>(import.meta.url, "scheduler-child", signal);
  const repetitions = podsOf(size) > REPEATED_PODS_MAX ? 1 : REPETITIONS;
  if (repetitions === 1) note(`${workload.name} ${size.name} runs once`);
  const sizes = sizesOf(size);
  const { took } = await rounds.measure({ took: () => runNext(child, workload, sizes) }, repetitions);
  return took;
}

function podsOf({ initPods, measuredPods, otherPods = 0 }: Size): number {
  return initPods + measuredPods + otherPods;
}

/** A small warm-up round, then `count` measured ones. */
function* sizesOf(size: Size): Generator<Size, never> {
  yield shrunk(size, WARM_UP_FACTOR);
  for (;;) yield size;
}

function runNext(child: Child<SchedulerTasks>, workload: Workload, sizes: Generator<Size, never>): Promise<number> {
  const { value: size } = sizes.next();
  return child.call("run", { workload: workload.name, size });
}
