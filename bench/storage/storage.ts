/**
 * `npm run bench -- storage`: the workloads of scheduler_perf with persistent volumes or ResourceClaims beside their floors; then clusters with simulated
 * nodes: from a claim to the running Pod beside a Pod without volumes, and a DaemonSet of 5,000 Pods with a claim each.
 */
import type { Benchmark } from "../benchmark.ts";
import { startChild } from "../child.ts";
import { figureOf } from "../figure.ts";
import { benchmarkOf } from "../scheduler/scheduler.ts";
import { deviceWorkloads } from "../scheduler/device-workloads.ts";
import { volumeWorkloads } from "../scheduler/volume-workloads.ts";
import type { StorageTasks } from "./storage-child.ts";

/** Pods one after the other; enough for a 99th percentile. */
const SAMPLES = 200;
const DAEMON_PODS = 5_000;

const claims: Benchmark = {
  name: "storage/claims",
  measures: "claim → bound → Pod running, p50 and p99, beside a Pod without volumes; the Pods come one after the other",
  async *run({ signal, note }) {
    note(`each of ${SAMPLES} Pods is waited for; simulated nodes provision without writing files`);
    await using child = startChild<StorageTasks>(import.meta.url, "storage-child", signal);
    await child.call("start", { nodes: 3 });
    const { plain, bound, running } = await child.call("claims", { count: SAMPLES });
    for (const percent of [50, 99]) {
      const baseline = percentile(plain, percent);
      const name = `storage/claims-p${percent}`;
      yield figureOf({ name: `${name}-bound`, unit: "ms", values: [percentile(bound, percent)] });
      yield figureOf({ name: `${name}-running`, unit: "ms", values: [percentile(running, percent)], baselines: [baseline] });
    }
  },
};

const daemonSet: Benchmark = {
  name: "storage/daemon-set",
  measures: "a DaemonSet of 5,000 Pods with an ephemeral claim each, until all are ready, beside one without",
  async *run({ signal, note }) {
    note("each runs once, after one without claims that does not count");
    await using child = startChild<StorageTasks>(import.meta.url, "storage-child", signal);
    await child.call("start", { nodes: DAEMON_PODS });
    // The first one in a process takes half as long again: its code is not compiled yet.
    await child.call("daemonSet", { count: DAEMON_PODS, hasClaims: false });
    const plain = await child.call("daemonSet", { count: DAEMON_PODS, hasClaims: false });
    const withClaims = await child.call("daemonSet", { count: DAEMON_PODS, hasClaims: true });
    yield figureOf({ name: "storage/daemon-set-of-5000-ready", unit: "ms", values: [withClaims], baselines: [plain] });
  },
};

export const storageBenchmarks: readonly Benchmark[] = [
  ...[...volumeWorkloads, ...deviceWorkloads].map((workload) => benchmarkOf(workload, "storage")),
  claims,
  daemonSet,
];

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN;
}
