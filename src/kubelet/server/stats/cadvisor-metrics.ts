/**
 * Container metrics as cadvisor exposes them in upstream's kubelets (/metrics/cadvisor): its names, helps and labels, as far as a container
 * runtime reports them. A Pod as a whole has no container name, the machine as a whole has the control group "/".
 */
import type { Family, Labels, Sample } from "../../../base/metrics/prometheus-text.ts";
import type { ContainerStats, PodStats, SandboxStatus, UsageStats } from "../../contracts/runtime.ts";
import type { CgroupSettings, NetworkNumbers } from "./node-statistics.ts";
import type { ResourceNumbers } from "./resource-metrics.ts";

export interface MachineNumbers {
  readonly processors: number;
  readonly memoryBytes: number;
  readonly machineId: string;
  readonly systemUuid: string;
  readonly bootId: string;
}

export interface CadvisorOptions {
  readonly machine?: MachineNumbers | undefined;
  cgroupOf(podUid: string, containerId?: string): string;
  /** By control group. */
  readonly settings?: ReadonlyMap<string, CgroupSettings>;
}

/** One control group. */
interface Used extends Partial<UsageStats> {
  readonly labels: Labels;
  readonly network?: NetworkNumbers | undefined;
  readonly writableLayerBytes?: number | undefined;
  readonly startedAtMs?: number | undefined;
  readonly settings?: CgroupSettings | undefined;
}

/** Undefined: unavailable. */
export function cadvisorFamilies(numbers: ResourceNumbers | undefined, options: CadvisorOptions): readonly Family[] {
  const failed: Family = {
    name: "container_scrape_error",
    help: "1 if there was an error while getting container metrics, 0 otherwise",
    type: "gauge",
    samples: [{ labels: {}, value: numbers === undefined ? 1 : 0 }],
  };
  const machine = machineFamilies(options.machine);
  return numbers === undefined ? [failed, ...machine] : [...containerFamilies(usedOf(numbers, options)), failed, ...machine];
}

/** The control groups of all Pods and containers, for `settings`. */
export function cgroupsOf({ pods }: ResourceNumbers, { cgroupOf }: Pick<CadvisorOptions, "cgroupOf">): readonly string[] {
  const all = pods.flatMap(({ podUid, containers }) => [cgroupOf(podUid), ...containers.map(({ id }) => cgroupOf(podUid, id))]);
  return [...new Set(all)].filter((cgroup) => cgroup !== "");
}

function usedOf({ node, pods, sandboxes }: ResourceNumbers, options: CadvisorOptions): readonly Used[] {
  const byUid = new Map(sandboxes.map((sandbox) => [sandbox.podUid, sandbox]));
  const root: Used = { ...node, labels: labelsOf({ id: "/" }) };
  return [root, ...pods.flatMap((pod) => usedByPod(pod, byUid.get(pod.podUid), options))];
}

function usedByPod(pod: PodStats, sandbox: SandboxStatus | undefined, { cgroupOf, settings }: CadvisorOptions): readonly Used[] {
  const { podUid, namespace, name, containers, network } = pod;
  const own = { namespace, pod: name };
  const cgroup = cgroupOf(podUid);
  const whole: Used = {
    ...usageOf(pod),
    startedAtMs: sandbox?.createdAtMs,
    settings: settings?.get(cgroup),
    labels: labelsOf({ ...own, id: cgroup }),
  };
  const place = sandbox?.id ?? "";
  // Network metrics belong to the sandbox container.
  const networked: Used = {
    labels: labelsOf({ ...own, id: cgroupOf(podUid, place), name: place }),
    ...(network === undefined ? {} : { network: { name: "eth0", ...network } }),
  };
  return [
    whole,
    networked,
    ...containers.map((container) => ({
      ...usageOf(container),
      writableLayerBytes: container.writableLayerBytes,
      startedAtMs: startOf(container, sandbox),
      settings: settings?.get(cgroupOf(podUid, container.id)),
      labels: labelsOf({ ...own, ...containerLabels(container, sandbox), id: cgroupOf(podUid, container.id) }),
    })),
  ];
}

function containerLabels({ id, name: container }: ContainerStats, sandbox: SandboxStatus | undefined) {
  const image = sandbox?.containers.find((known) => known.id === id)?.image ?? "";
  return { container, image, name: id };
}

function startOf({ id }: ContainerStats, sandbox: SandboxStatus | undefined): number | undefined {
  const state = sandbox?.containers.find((known) => known.id === id)?.state;
  return state?.is === "running" ? state.startedAtMs : undefined;
}

/** Every sample of a family has the same labels, even if unknown. */
function labelsOf(known: Partial<Record<"container" | "id" | "image" | "name" | "namespace" | "pod", string>>): Labels {
  return { container: "", id: "", image: "", name: "", namespace: "", pod: "", ...known };
}

function usageOf({ atMs, cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes }: Partial<UsageStats>) {
  const all = { atMs, cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<UsageStats>;
}

function containerFamilies(used: readonly Used[]): readonly Family[] {
  const family = (
    name: string,
    type: Family["type"],
    help: string,
    value: (one: Used) => number | undefined,
    extra: (one: Used) => Labels = () => ({}),
  ): Family => ({ name, type, help, samples: used.flatMap((one) => sampleOf(one, value(one), extra(one))) });
  const total = (): Labels => ({ cpu: "total" });
  // The device of a container's writable layer is unknown: it is the runtime's.
  const onDevice = (): Labels => ({ device: "" });
  const through = ({ network }: Used): Labels => ({ interface: network?.name ?? "" });
  const seconds = ({ cpuNanoseconds }: Used) => (cpuNanoseconds === undefined ? undefined : cpuNanoseconds / 1e9);
  return [
    ...settingsFamilies(family),
    family("container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.", seconds, total),
    family(
      "container_fs_usage_bytes",
      "gauge",
      "Number of bytes that are consumed by the container on this filesystem.",
      (one) => one.writableLayerBytes,
      onDevice,
    ),
    family("container_last_seen", "gauge", "Last time a container was seen by the exporter", ({ atMs }) => inSeconds(atMs)),
    family("container_memory_rss", "gauge", "Size of RSS in bytes.", (one) => one.memoryRssBytes),
    family(
      "container_memory_usage_bytes",
      "gauge",
      "Current memory usage in bytes, including all memory regardless of when it was accessed",
      (one) => one.memoryUsageBytes,
    ),
    family("container_memory_working_set_bytes", "gauge", "Current working set in bytes.", (one) => one.memoryWorkingSetBytes),
    family(
      "container_network_receive_bytes_total",
      "counter",
      "Cumulative count of bytes received",
      (one) => one.network?.rxBytes,
      through,
    ),
    family(
      "container_network_receive_errors_total",
      "counter",
      "Cumulative count of errors encountered while receiving",
      (one) => one.network?.rxErrors,
      through,
    ),
    family(
      "container_network_transmit_errors_total",
      "counter",
      "Cumulative count of errors encountered while transmitting",
      (one) => one.network?.txErrors,
      through,
    ),
    family(
      "container_network_transmit_bytes_total",
      "counter",
      "Cumulative count of bytes transmitted",
      (one) => one.network?.txBytes,
      through,
    ),
    family("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds.", ({ startedAtMs }) =>
      inSeconds(startedAtMs),
    ),
  ];
}

type MakeFamily = (name: string, type: Family["type"], help: string, value: (one: Used) => number | undefined) => Family;

/** As cAdvisor: throttling and a quota exist only with a CPU limit, and an unlimited amount of memory is 0. */
function settingsFamilies(family: MakeFamily): readonly Family[] {
  const gauge = (name: string, help: string, read: (settings: CgroupSettings) => number | undefined): Family =>
    family(name, "gauge", help, ({ settings }) => settings && read(settings));
  const counter = (name: string, help: string, read: (of: NonNullable<CgroupSettings["throttling"]>) => number): Family =>
    family(name, "counter", help, ({ settings }) => settings?.throttling && read(settings.throttling));
  return [
    counter("container_cpu_cfs_periods_total", "Number of elapsed enforcement period intervals.", ({ periods }) => periods),
    counter(
      "container_cpu_cfs_throttled_periods_total",
      "Number of throttled period intervals.",
      ({ throttledPeriods }) => throttledPeriods,
    ),
    counter(
      "container_cpu_cfs_throttled_seconds_total",
      "Total time duration the container has been throttled.",
      ({ throttledSeconds }) => throttledSeconds,
    ),
    gauge("container_memory_cache", "Number of bytes of page cache memory.", ({ memoryCacheBytes }) => memoryCacheBytes),
    gauge("container_memory_swap", "Container swap usage in bytes.", ({ memorySwapBytes }) => memorySwapBytes),
    gauge("container_spec_cpu_period", "CPU period of the container.", ({ cpuPeriod }) => cpuPeriod),
    gauge("container_spec_cpu_quota", "CPU quota of the container.", ({ cpuQuota }) => cpuQuota),
    gauge("container_spec_cpu_shares", "CPU share of the container.", ({ cpuShares }) => cpuShares),
    gauge("container_spec_memory_limit_bytes", "Memory limit for the container.", ({ memoryLimitBytes }) => memoryLimitBytes),
    gauge(
      "container_spec_memory_reservation_limit_bytes",
      "Memory reservation limit for the container.",
      ({ memoryReservationBytes }) => memoryReservationBytes,
    ),
    gauge(
      "container_spec_memory_swap_limit_bytes",
      "Memory swap limit for the container.",
      ({ memorySwapLimitBytes }) => memorySwapLimitBytes,
    ),
  ];
}

function inSeconds(timeMs: number | undefined): number | undefined {
  return timeMs === undefined ? undefined : timeMs / 1_000;
}

function sampleOf({ labels, atMs }: Used, value: number | undefined, extra: Labels): readonly Sample[] {
  if (value === undefined) return [];
  // Sorted by name, as Prometheus's own libraries write them.
  const sorted = Object.fromEntries(Object.entries({ ...labels, ...extra }).sort(([a], [b]) => (a < b ? -1 : 1)));
  return [{ labels: sorted, value, ...(atMs === undefined ? {} : { atMs: Math.round(atMs) }) }];
}

function machineFamilies(machine: MachineNumbers | undefined): readonly Family[] {
  if (machine === undefined) return [];
  const { processors, memoryBytes, machineId, systemUuid, bootId } = machine;
  const labels = { boot_id: bootId, machine_id: machineId, system_uuid: systemUuid };
  return [
    { name: "machine_cpu_cores", help: "Number of logical CPU cores.", type: "gauge", samples: [{ labels, value: processors }] },
    {
      name: "machine_memory_bytes",
      help: "Amount of memory installed on the machine.",
      type: "gauge",
      samples: [{ labels, value: memoryBytes }],
    },
  ];
}
