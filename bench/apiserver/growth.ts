/** Cost of size: memory per object with 100,000 Pods, and latency of GET and POST with 200,000 objects compared to 1,000. */
import { Disposables } from "../../src/base/disposables.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import type { LoadTasks } from "./load-child.ts";
import { startServer } from "./start-server.ts";

const PODS = 100_000;
const BYTES_PER_POD_MAX = 12 * 1024;

const FEW = 1_000;
const MANY = 200_000;

/** Equal within the variance between runs. */
const SAME_RATIO_MIN = 0.77;

export const apiserverGrowth: Benchmark = {
  name: "apiserver/growth",
  measures: "memory for 100,000 Pods; GET and POST among 1,000 and among 200,000 objects",
  async *run(context) {
    yield* memoryFigures(context);
    yield* sizeFigures(context);
  },
};

async function* memoryFigures({ directory, signal, note }: BenchmarkContext): AsyncIterable<Figure> {
  await using children = new Disposables();
  const load = children.use(startChild<LoadTasks>(import.meta.url, "load-child", signal));
  const k8ts = children.use(startServer(signal));
  const server = await k8ts.call("startK8ts", { directory, store: "memory" });
  const before = await k8ts.call("memory", undefined);
  const tookMs = await load.call("fill", { ...server, count: PODS, kind: "pods", nodes: 100 });
  const after = await k8ts.call("memory", undefined);
  note(`${PODS} Pods were created in ${(tookMs / 1_000).toFixed(1)} s, ${Math.round((PODS * 1_000) / tookMs)} per second`);
  const perPod = (key: "residentBytes" | "heapBytes" | "externalBytes") => (after[key] - before[key]) / PODS;
  const budget = { atMost: BYTES_PER_POD_MAX };
  yield figureOf({
    name: "apiserver/growth-memory-per-pod",
    unit: "bytes",
    values: [perPod("heapBytes") + perPod("externalBytes")],
    budget,
  });
  yield figureOf({ name: "apiserver/growth-resident-memory-per-pod", unit: "bytes", values: [perPod("residentBytes")], budget });
}

async function* sizeFigures({ directory, signal, rounds }: BenchmarkContext): AsyncIterable<Figure> {
  await using children = new Disposables();
  const load = children.use(startChild<LoadTasks>(import.meta.url, "load-child", signal));
  const start = async (count: number, name: string) => {
    const child = children.use(startServer(signal));
    const server = await child.call("startK8ts", { directory: `${directory}/${name}`, store: "memory" });
    await load.call("prepare", { ...server, count: 16 });
    await load.call("fill", { ...server, count, kind: "configmaps" });
    return server;
  };
  const few = await start(FEW, "few");
  const many = await start(MANY, "many");
  for (const request of ["get-pod", "post-configmap"] as const) {
    const options = { protocol: "http1", request, connections: 16, durationMs: 1_000 } as const;
    const results = await rounds.measure({
      many: () => load.call("load", { ...options, ...many }),
      few: () => load.call("load", { ...options, ...few }),
    });
    yield figureOf({
      name: `apiserver/growth-${request}-among-${MANY}-beside-${FEW}`,
      unit: "requests/s",
      values: results.many.map(({ perSecond }) => perSecond),
      baselines: results.few.map(({ perSecond }) => perSecond),
      budget: { atLeast: SAME_RATIO_MIN },
    });
  }
}
