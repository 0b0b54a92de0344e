/** Resource usage of nodes, Pods and containers as metrics for metrics-server (/metrics/resource): names and helps are upstream's. */
import type { Family, Labels, Sample } from "../../../base/metrics/prometheus-text.ts";
import type { PodStats, SandboxStatus, UsageStats } from "../../contracts/runtime.ts";
import type { NodeNumbers } from "./node-statistics.ts";

export interface ResourceNumbers {
  readonly node: NodeNumbers;
  readonly pods: readonly PodStats[];
  readonly sandboxes: readonly SandboxStatus[];
}

interface Used {
  readonly labels: Labels;
  readonly usage: Partial<UsageStats>;
}

/** Undefined: unavailable. */
export function resourceFamilies(numbers: ResourceNumbers | undefined): readonly Family[] {
  const failed: Family = {
    name: "resource_scrape_error",
    help: "[STABLE] 1 if there was an error while getting container metrics, 0 otherwise",
    type: "gauge",
    samples: [{ labels: {}, value: numbers === undefined ? 1 : 0 }],
  };
  if (numbers === undefined) return [failed];
  const { node, pods } = numbers;
  const usedByPods = pods.map((pod) => ({ labels: { pod: pod.name, namespace: pod.namespace }, usage: pod }));
  const usedByContainers = pods.flatMap((pod) =>
    pod.containers.map((usage) => ({ labels: { container: usage.name, pod: pod.name, namespace: pod.namespace }, usage })),
  );
  return [
    cpu("container", usedByContainers),
    memory("container", usedByContainers),
    startTimes(numbers),
    cpu("node", [{ labels: {}, usage: node }]),
    memory("node", [{ labels: {}, usage: node }]),
    cpu("pod", usedByPods),
    memory("pod", usedByPods),
    failed,
  ];
}

function cpu(what: string, used: readonly Used[]): Family {
  const help = `[STABLE] Cumulative cpu time consumed by the ${what} in core-seconds`;
  const samples = used.flatMap(({ labels, usage }) => sample(labels, inSeconds(usage.cpuNanoseconds), usage.atMs));
  return { name: `${what}_cpu_usage_seconds_total`, help, type: "counter", samples };
}

function memory(what: string, used: readonly Used[]): Family {
  const help = `[STABLE] Current working set of the ${what} in bytes`;
  const samples = used.flatMap(({ labels, usage }) => sample(labels, usage.memoryWorkingSetBytes, usage.atMs));
  return { name: `${what}_memory_working_set_bytes`, help, type: "gauge", samples };
}

function startTimes({ pods, sandboxes }: ResourceNumbers): Family {
  const byUid = new Map(sandboxes.map((sandbox) => [sandbox.podUid, sandbox]));
  const samples = pods.flatMap((pod) =>
    pod.containers.flatMap(({ id, name }) => {
      const state = byUid.get(pod.podUid)?.containers.find((container) => container.id === id)?.state;
      if (state?.is !== "running") return [];
      return [{ labels: { container: name, pod: pod.name, namespace: pod.namespace }, value: state.startedAtMs / 1_000 }];
    }),
  );
  return {
    name: "container_start_time_seconds",
    help: "[STABLE] Start time of the container since unix epoch in seconds",
    type: "gauge",
    samples,
  };
}

function inSeconds(nanoseconds: number | undefined): number | undefined {
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}

function sample(labels: Labels, value: number | undefined, atMs: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ labels, value, ...(atMs === undefined ? {} : { atMs: Math.round(atMs) }) }];
}
