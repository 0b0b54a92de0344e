/**
 * Resource usage of a node and its Pods in the format of upstream's stats summary (stats/v1alpha1), which metrics-server and autoscalers
 * read. Computed from the statistics of the runtime and the machine; unknown values are omitted.
 */
import { formatTime } from "../../../api/machinery/time.ts";
import type { ContainerStats, PodStats, SandboxStatus, UsageStats } from "../../contracts/runtime.ts";
import type { FilesystemUsage, PodStorage } from "../../contracts/pod-storage.ts";
import { isComplete } from "./live-statistics.ts";
import type { NetworkNumbers, NodeNumbers } from "./node-statistics.ts";
import {
  ephemeralStorage,
  filesystemSummary,
  given,
  volumeSummaries,
  type FilesystemSummary,
  type VolumeSummary,
} from "./storage-summary.ts";

export interface Summary {
  readonly node: NodeSummary;
  readonly pods: readonly PodSummary[];
}

export interface UsageSummary {
  readonly cpu?: { readonly time: string; readonly usageNanoCores?: number; readonly usageCoreNanoSeconds?: number };
  readonly memory?: {
    readonly time: string;
    readonly availableBytes?: number;
    readonly usageBytes?: number;
    readonly workingSetBytes?: number;
    readonly rssBytes?: number;
    readonly pageFaults?: number;
    readonly majorPageFaults?: number;
  };
}

export interface NodeSummary extends UsageSummary {
  readonly nodeName: string;
  readonly startTime: string | null;
  readonly systemContainers?: readonly ContainerSummary[];
  readonly network?: NetworkSummary;
  readonly fs?: FilesystemSummary;
  readonly runtime?: { readonly imageFs?: FilesystemSummary; readonly containerFs?: FilesystemSummary };
  readonly rlimit?: { readonly time: string; readonly maxpid: number; readonly curproc: number };
}

export interface PodSummary extends UsageSummary {
  readonly podRef: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly startTime: string | null;
  readonly containers: readonly ContainerSummary[];
  readonly network?: NetworkSummary;
  readonly volume?: readonly VolumeSummary[];
  readonly "ephemeral-storage"?: FilesystemSummary;
  readonly process_stats?: { readonly process_count: number };
}

export interface ContainerSummary extends UsageSummary {
  readonly name: string;
  readonly startTime: string | null;
  readonly rootfs?: FilesystemSummary;
  readonly logs?: FilesystemSummary;
}

interface NetworkSummary extends NetworkNumbers {
  readonly time: string;
  readonly interfaces: readonly NetworkNumbers[];
}

export interface SummaryInput {
  readonly nodeName: string;
  readonly nowMs: number;
  readonly node: NodeNumbers;
  readonly pods: readonly PodStats[];
  /** For start times. */
  readonly sandboxes: readonly SandboxStatus[];
  /** By Pod uid. Absent: disk usage was not measured. */
  readonly storage?: ReadonlyMap<string, PodStorage>;
}

/** `onlyCpuAndMemory` leaves out networks and filesystems. */
export function statsSummary(input: SummaryInput, { onlyCpuAndMemory = false } = {}): Summary {
  const { nodeName, nowMs, node, pods, sandboxes, storage } = input;
  const byUid = new Map(sandboxes.map((sandbox) => [sandbox.podUid, sandbox]));
  const time = formatTime(nowMs);
  return {
    node: {
      nodeName,
      startTime: timeOr(node.startedAtMs),
      ...systemContainersOf(node, nowMs),
      ...usageOf(node, nowMs, node.memoryAvailableBytes),
      ...(onlyCpuAndMemory ? {} : nodeExtras(node, time)),
    },
    pods: pods.map((pod) => podSummary(pod, byUid.get(pod.podUid), { nowMs, node, onlyCpuAndMemory, storage: storage?.get(pod.podUid) })),
  };
}

function systemContainersOf({ systemContainers = [] }: NodeNumbers, nowMs: number): Pick<NodeSummary, "systemContainers"> {
  if (systemContainers.length === 0) return {};
  return { systemContainers: systemContainers.map((one) => ({ name: one.name, startTime: null, ...usageOf(one, nowMs) })) };
}

function nodeExtras({ network, rootFilesystem, imageFilesystem, containerFilesystem, processes }: NodeNumbers, time: string) {
  const [imageFs, containerFs] = [filesystemOf(imageFilesystem, time), filesystemOf(containerFilesystem, time)];
  const fs = filesystemOf(rootFilesystem, time);
  return {
    ...(network === undefined ? {} : { network: networkOf(network, time) }),
    ...(fs === undefined ? {} : { fs }),
    ...(imageFs === undefined && containerFs === undefined
      ? {}
      : { runtime: { ...(imageFs === undefined ? {} : { imageFs }), ...(containerFs === undefined ? {} : { containerFs }) } }),
    ...(processes === undefined ? {} : { rlimit: { time, maxpid: processes.max, curproc: processes.running } }),
  };
}

interface PodSummaryOptions {
  readonly nowMs: number;
  readonly onlyCpuAndMemory: boolean;
  readonly node: NodeNumbers;
  readonly storage: PodStorage | undefined;
}

function podSummary(pod: PodStats, sandbox: SandboxStatus | undefined, options: PodSummaryOptions): PodSummary {
  const { podUid: uid, namespace, name } = pod;
  // Clients rely on these values and crash without them: a container that has just started is omitted until they are known.
  const counted = pod.containers.filter(isComplete);
  const containers = counted.map((container) => containerSummary(container, sandbox, options));
  return {
    podRef: { name, namespace, uid },
    startTime: timeOr(sandbox?.createdAtMs),
    containers,
    ...usageOf(isComplete(pod) ? pod : summed(counted), options.nowMs),
    ...(options.onlyCpuAndMemory ? {} : podExtras(pod, containers, options)),
  };
}

/** Name of a Pod's interface. */
const POD_INTERFACE = "eth0";

function podExtras({ atMs, network, processes }: PodStats, containers: readonly ContainerSummary[], options: PodSummaryOptions) {
  const { nowMs, node, storage } = options;
  const time = formatTime(nowMs);
  const volume = storage && volumeSummaries(storage, time);
  return {
    ...(network === undefined ? {} : { network: networkOf({ name: POD_INTERFACE, ...network }, formatTime(atMs ?? nowMs)) }),
    ...(volume === undefined ? {} : { volume }),
    ...(storage === undefined
      ? {}
      : { "ephemeral-storage": ephemeralStorage({ time, filesystem: node.rootFilesystem, containers, storage }) }),
    ...(processes === undefined ? {} : { process_stats: { process_count: processes } }),
  };
}

function containerSummary(
  container: ContainerStats,
  sandbox: SandboxStatus | undefined,
  { nowMs, onlyCpuAndMemory, node, storage }: PodSummaryOptions,
): ContainerSummary {
  const { id, name, writableLayerBytes, writableLayerInodes, atMs = nowMs } = container;
  const state = sandbox?.containers.find((known) => known.id === id)?.state;
  const startedAtMs = state === undefined || state.is === "created" ? undefined : state.startedAtMs;
  const layer = { ...given("usedBytes", writableLayerBytes), ...given("inodesUsed", writableLayerInodes) };
  const rootfs = filesystemSummary(formatTime(atMs), node.containerFilesystem ?? node.imageFilesystem, layer);
  const written = storage?.logs.get(name);
  return {
    name,
    startTime: timeOr(startedAtMs),
    ...usageOf(container, nowMs),
    ...(writableLayerBytes === undefined || onlyCpuAndMemory ? {} : { rootfs }),
    ...(written === undefined || onlyCpuAndMemory ? {} : { logs: filesystemSummary(formatTime(nowMs), node.rootFilesystem, written) }),
  };
}

function usageOf(usage: Partial<UsageStats>, nowMs: number, availableBytes?: number): UsageSummary {
  const { cpuNanoseconds, cpuNanocores, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes, pageFaults, majorPageFaults } = usage;
  const time = formatTime(usage.atMs ?? nowMs);
  const cpu = { time, ...given("usageNanoCores", cpuNanocores), ...given("usageCoreNanoSeconds", cpuNanoseconds) };
  const memory = {
    time,
    ...given("availableBytes", availableBytes),
    ...given("usageBytes", memoryUsageBytes),
    ...given("workingSetBytes", memoryWorkingSetBytes),
    ...given("rssBytes", memoryRssBytes),
    ...given("pageFaults", pageFaults),
    ...given("majorPageFaults", majorPageFaults),
  };
  return {
    ...(cpuNanoseconds === undefined && cpuNanocores === undefined ? {} : { cpu }),
    ...(memoryWorkingSetBytes === undefined ? {} : { memory }),
  };
}

/** Sum for a Pod without statistics of its own. */
function summed(containers: readonly ContainerStats[]): Partial<UsageStats> {
  if (containers.length === 0) return {};
  const sum = (of: (container: ContainerStats) => number | undefined) =>
    containers.reduce((total, container) => total + (of(container) ?? 0), 0);
  return {
    atMs: Math.max(...containers.map(({ atMs }) => atMs ?? 0)),
    cpuNanoseconds: sum(({ cpuNanoseconds }) => cpuNanoseconds),
    memoryWorkingSetBytes: sum(({ memoryWorkingSetBytes }) => memoryWorkingSetBytes),
    memoryUsageBytes: sum(({ memoryUsageBytes }) => memoryUsageBytes),
    memoryRssBytes: sum(({ memoryRssBytes }) => memoryRssBytes),
    pageFaults: sum(({ pageFaults }) => pageFaults),
    majorPageFaults: sum(({ majorPageFaults }) => majorPageFaults),
    ...(containers.every(({ cpuNanocores }) => cpuNanocores !== undefined)
      ? { cpuNanocores: sum(({ cpuNanocores }) => cpuNanocores) }
      : {}),
  };
}

function networkOf({ name, rxBytes, rxErrors = 0, txBytes, txErrors = 0 }: NetworkNumbers, time: string): NetworkSummary {
  const link = { name, rxBytes, rxErrors, txBytes, txErrors };
  return { time, ...link, interfaces: [link] };
}

function filesystemOf(numbers: FilesystemUsage | undefined, time: string): FilesystemSummary | undefined {
  return numbers === undefined ? undefined : { time, ...numbers };
}

/** Go's zero time is null. */
function timeOr(timeMs: number | undefined): string | null {
  return timeMs === undefined ? null : formatTime(timeMs);
}
