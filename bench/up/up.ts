/**
 * `npm run bench -- up`: the latency of `k8ts up` as a user experiences it. Time until it is ready, resources when idle, and time until a
 * Pod runs on containerd. Baseline: `ctr run` of one container on the same containerd in the same run; a Pod is two containers, a network
 * and volumes, so it takes longer.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { Disposables } from "../../src/base/disposables.ts";
import { BUSYBOX_1 } from "../../src/testing/fixtures/busybox-image.ts";
import { startTestContainerd, type TestContainerd } from "../../src/testing/servers/containerd-server.ts";
import { needs } from "../../src/testing/needs.ts";
import type { Benchmark, BenchmarkContext, Figure } from "../benchmark.ts";
import { figureOf } from "../figure.ts";
import { isReady, startClusterProcess, type StartedCluster } from "./cluster-process.ts";

const READY_SIMULATED_MS_MAX = 400;
const READY_CONTAINERD_MS_MAX = 600;
const IDLE_BYTES_MAX = 80e6;
const IDLE_CPU_PERCENT_MAX = 0.5;
/** Of `ctr run`, one Pod after the other. */
const ONE_BY_ONE_RATIO_MAX = 2;
/** 99th percentile of Pods at a rate; their baseline is one container at a time. */
const AT_A_RATE_MS_MAX = 1_500;

const STARTS = 5;
/** Time for the start to settle, and duration of the idle measurement. */
const SETTLE_MS = 5_000;
const IDLE_MS = 20_000;
/** Time after a load until its memory is released. */
const AFTERWARDS_MS = 25_000;

const ONE_BY_ONE = 30;
const AT_A_RATE = { count: 50, perSecond: 5 };

const run = promisify(execFile);
const wait = (durationMs: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, durationMs));

export const upSimulated: Benchmark = {
  name: "up/simulated",
  measures: "k8ts up with a simulated node: from the start of the process to a Ready Node, and resources when idle",
  async *run({ directory, signal }) {
    const starts: StartFigures[] = [];
    for (let index = 0; index < STARTS; index++) {
      await using cluster = await startClusterProcess(
        join(directory, `simulated-${index}`),
        ["--in-memory", "--simulated-nodes", "1"],
        signal,
      );
      starts.push(cluster);
    }
    yield* startFigures("up/simulated", starts, READY_SIMULATED_MS_MAX);
    await using cluster = await startClusterProcess(join(directory, "idle"), ["--simulated-nodes", "1"], signal);
    yield* idleFigures("up/simulated", cluster);
  },
};

export const upContainerd: Benchmark = {
  name: "up/containerd",
  measures: "k8ts up on a running containerd, and Pods on it, one by one and at 5 per second; baseline: ctr run",
  async *run(context) {
    const { skip } = needs("containerd", "cni", "busybox", "iptables");
    if (skip !== false) return context.note(skip);
    await using started = new Disposables();
    const containerd = started.use(await startTestContainerd());
    const flags = ["--container-runtime-endpoint", containerd.endpoint];
    const starts: StartFigures[] = [];
    const first: number[] = [];
    for (let index = 0; index < STARTS; index++) {
      const begunAt = performance.now();
      await using cluster = await startClusterProcess(join(context.directory, `containerd-${index}`), flags, context.signal);
      starts.push(cluster);
      await startPod(cluster, "first");
      first.push(performance.now() - begunAt);
    }
    yield* startFigures("up/containerd", starts, READY_CONTAINERD_MS_MAX);
    yield figureOf({ name: "up/containerd-first-container", unit: "ms", values: first });
    const cluster = started.use(await startClusterProcess(join(context.directory, "pods"), flags, context.signal));
    yield* idleFigures("up/containerd", cluster);
    yield* podFigures(cluster, containerd, context);
    await wait(AFTERWARDS_MS);
    const values = [cluster.residentBytes()];
    yield figureOf({ name: "up/containerd-idle-memory-after-pods", unit: "bytes", values, budget: { atMost: IDLE_BYTES_MAX } });
  },
};

type StartFigures = Pick<StartedCluster, "readyMs" | "cpuSeconds">;

function* startFigures(name: string, starts: readonly StartFigures[], atMost: number): Iterable<Figure> {
  yield figureOf({ name: `${name}-ready`, unit: "ms", values: starts.map(({ readyMs }) => readyMs), budget: { atMost } });
  yield figureOf({ name: `${name}-ready-cpu`, unit: "s", values: starts.map(({ cpuSeconds }) => cpuSeconds) });
}

async function* idleFigures(name: string, cluster: StartedCluster): AsyncIterable<Figure> {
  await wait(SETTLE_MS);
  const [beforeSeconds, beforeMs] = [cluster.cpuNowSeconds(), performance.now()];
  await wait(IDLE_MS);
  const percent = ((cluster.cpuNowSeconds() - beforeSeconds) / ((performance.now() - beforeMs) / 1_000)) * 100;
  yield figureOf({ name: `${name}-idle-memory`, unit: "bytes", values: [cluster.residentBytes()], budget: { atMost: IDLE_BYTES_MAX } });
  yield figureOf({ name: `${name}-idle-cpu`, unit: "%", values: [percent], budget: { atMost: IDLE_CPU_PERCENT_MAX } });
}

async function* podFigures(cluster: StartedCluster, containerd: TestContainerd, { note }: BenchmarkContext): AsyncIterable<Figure> {
  const [pods, bare]: [number[], number[]] = [[], []];
  for (let index = 0; index < ONE_BY_ONE; index++) {
    // Alternating, so that a temporary slowdown affects both.
    pods.push(await startPod(cluster, `one-${index}`));
    bare.push(await startBare(containerd, `bare-${index}`));
  }
  for (const part of [0.5, 0.99]) {
    const name = `up/containerd-pod-start-p${part * 100}`;
    const budget = { atMost: ONE_BY_ONE_RATIO_MAX };
    yield figureOf({ name, unit: "ms", values: [quantile(pods, part)], baselines: [quantile(bare, part)], budget });
  }
  note(`then ${AT_A_RATE.count} Pods, ${AT_A_RATE.perSecond} per second`);
  const rated = await Promise.all(
    Array.from({ length: AT_A_RATE.count }, async (_, index) => {
      await wait((index * 1_000) / AT_A_RATE.perSecond);
      return startPod(cluster, `rate-${index}`);
    }),
  );
  const name = `up/containerd-pod-start-at-${AT_A_RATE.perSecond}-per-second`;
  yield figureOf({ name: `${name}-p50`, unit: "ms", values: [quantile(rated, 0.5)] });
  yield figureOf({ name: `${name}-p99`, unit: "ms", values: [quantile(rated, 0.99)], budget: { atMost: AT_A_RATE_MS_MAX } });
}

const PODS = "/api/v1/namespaces/default/pods";

/** From the create request until a client sees it Ready. Deleted afterwards without waiting. */
async function startPod(cluster: StartedCluster, name: string): Promise<number> {
  const begunAt = performance.now();
  const seen = cluster.watch(PODS, ({ metadata, status }) => metadata.name === name && isReady(status));
  await cluster.post(PODS, {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: { containers: [{ name: "main", image: BUSYBOX_1, command: ["sleep", "1d"] }], terminationGracePeriodSeconds: 0 },
  });
  await seen;
  const tookMs = performance.now() - begunAt;
  await cluster.remove(`${PODS}/${name}`);
  return tookMs;
}

/** One container, without network, volumes or supervision. */
async function startBare({ endpoint }: TestContainerd, id: string): Promise<number> {
  const ctr = (...words: readonly string[]) =>
    run("ctr", ["--address", endpoint.slice("unix://".length), "--namespace", "k8s.io", ...words]);
  const begunAt = performance.now();
  await ctr("run", "--detach", BUSYBOX_1, id, "sleep", "1d");
  const tookMs = performance.now() - begunAt;
  await ctr("task", "kill", "--signal", "SIGKILL", id);
  await ctr("task", "delete", "--force", id).catch(() => undefined);
  await ctr("container", "delete", id);
  return tookMs;
}

function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
