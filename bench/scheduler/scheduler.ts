/**
 * `npm run bench -- scheduler`: upstream's scheduler_perf by name, one benchmark per workload, so that each can be run alone (`npm run
 * bench -- scheduler/SchedulingBasic`; with K8TS_BENCH_PROFILE=DIRECTORY its measured part is profiled). A figure is measured Pods per
 * second, from the creation of the first until a watch shows the last one as bound, with everything in one process; 30 concurrent clients
 * create Pods as fast as the server accepts them, as upstream does. The baseline is the floor of upstream's CI. Beside it is the processor
 * time of the process per Pod, which depends less on what else the machine does.
 */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild, type Child } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { SchedulerTasks } from "./scheduler-child.ts";
import type { Measured } from "./scene.ts";
import { MARGIN, shrunk, workloads, type Size, type Workload } from "./workloads.ts";

/** Workloads with more Pods than this in total run once, so that a full run takes less than a quarter of an hour. */
const REPEATED_PODS_MAX = 7_000;
const REPETITIONS = 3;

/** Divisor of the size of the warm-up round, which does not count. */
const WARM_UP_FACTOR = 10;

const [BASIC] = workloads as readonly [Workload, ...Workload[]];

/** The first is the baseline of the others. */
const GROWTH_NODES = [100, 1_000, 5_000, 15_000] as const;
/** Fits on 100 nodes with capacity left. */
const GROWTH_PODS = { initPods: 500, measuredPods: 3_000 };
/** Allowed growth of the processor time per Pod from 100 nodes to so many. */
const GROWTH = { nodes: 5_000, atMost: 1.3 };

const growth: Benchmark = {
  name: "scheduler/growth",
  measures: "SchedulingBasic with 3,000 Pods on 100 to 15,000 nodes: Pods/s, and processor time per Pod; baseline: 100 nodes",
  async *run({ rounds, signal }) {
    await using children = new Disposables();
    const subjects = GROWTH_NODES.map((nodes) => {
      const child = children.use(startChild<SchedulerTasks>(import.meta.url, "scheduler-child", signal));
      const sizes = sizesOf({ name: `${nodes}-nodes`, nodes, ...GROWTH_PODS });
      return [String(nodes), () => runNext(child, BASIC, sizes)] as const;
    });
    const measured = await rounds.measure(Object.fromEntries(subjects), REPETITIONS);
    const perPod = (nodes: number) => (measured[nodes] ?? []).map(({ cpuMs }) => (cpuMs / GROWTH_PODS.measuredPods) * 1_000);
    for (const nodes of GROWTH_NODES) {
      const name = `scheduler/growth-${nodes}-nodes`;
      const took = measured[nodes] ?? [];
      yield figureOf({ name, unit: "pods/s", values: took.map(({ tookMs }) => (GROWTH_PODS.measuredPods / tookMs) * 1_000) });
      yield figureOf({
        name: `${name}-per-pod`,
        unit: "µs",
        values: perPod(nodes),
        ...(nodes === GROWTH_NODES[0] ? {} : { baselines: perPod(GROWTH_NODES[0]) }),
        ...(nodes === GROWTH.nodes ? { budget: { atMost: GROWTH.atMost } } : {}),
      });
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
      for (const size of workload.sizes) yield* figuresFor(workload, size, room, context);
    },
  };
}

async function* figuresFor(workload: Workload, size: Size, room: string, context: BenchmarkContext): AsyncGenerator<Figure> {
  const measured = await costsOf(workload, size, context);
  const { measuredPods, floor, margin = MARGIN } = size;
  const name = `${room}/${workload.name}-${size.name}`;
  yield figureOf({
    name,
    unit: "pods/s",
    values: measured.map(({ tookMs }) => (measuredPods / tookMs) * 1_000),
    ...(floor === undefined ? {} : { baselines: measured.map(() => floor), budget: { atLeast: margin } }),
  });
  yield figureOf({ name: `${name}-per-pod`, unit: "µs", values: measured.map(({ cpuMs }) => (cpuMs / measuredPods) * 1_000) });
}

/** In its own process, one cluster after the other. */
async function costsOf(workload: Workload, size: Size, { rounds, signal, note }: BenchmarkContext): Promise<readonly Measured[]> {
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

function runNext(child: Child<SchedulerTasks>, workload: Workload, sizes: Generator<Size, never>): Promise<Measured> {
  const { value: size } = sizes.next();
  return child.call("run", { workload: workload.name, size });
}
