/** Statistics endpoints: the stats summary, resource and container metrics, the kubelet's own metrics, its configuration. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import { writeJson } from "../../../api/machinery/codec/json.ts";
import { PROMETHEUS_TYPE, prometheusText, type Family } from "../../../base/metrics/prometheus-text.ts";
import { processFamilies } from "../../../host/processes/process-metrics.ts";
import type { RequestMetrics } from "../../../client/request-metrics.ts";
import type { KubeletMetrics } from "../../kubelet-metrics.ts";
import type { PodStorage, PodStorageSource } from "../../contracts/pod-storage.ts";
import { isRunning } from "../../pod/containers/runtime-containers.ts";
import type { SandboxStatus } from "../../contracts/runtime.ts";
import { cadvisorFamilies, cgroupsOf as cgroupsOfAll, type MachineNumbers } from "./cadvisor-metrics.ts";
import { Refusal, sendJson, sendText, type Handler, type ServedKubelet } from "../call.ts";
import { completeStats } from "./live-statistics.ts";
import { runtimeNumbers } from "./runtime-numbers.ts";
import type { CgroupSettings, CgroupSettingsSource, CgroupUsageSource, NodeNumbersSource } from "./node-statistics.ts";
import { resourceFamilies, type ResourceNumbers } from "./resource-metrics.ts";
import { volumeFamilies } from "./volume-metrics.ts";
import { statsSummary } from "./stats-summary.ts";

export interface StatsSources {
  /** Usage of the machine. Absent: unknown. */
  readonly nodeNumbers?: NodeNumbersSource;
  /** Hardware of the machine. */
  readonly machine?: MachineNumbers;
  /** Disk usage of Pods. */
  readonly podStorage?: PodStorageSource;
  /** Path of the control group of a Pod or one of its containers. */
  readonly cgroupOf?: (pod: Pod, containerId?: string) => string;
  /** Usage of a control group, for statistics that the runtime omits. */
  readonly cgroupUsage?: CgroupUsageSource;
  /** Limits of a control group, for container metrics. */
  readonly cgroupSettings?: CgroupSettingsSource;
  /** The kubelet's own metrics. */
  readonly metrics?: KubeletMetrics;
  /** Of its requests to the API server. */
  readonly requests?: RequestMetrics;
  /** Its configuration: a KubeletConfiguration. */
  readonly configuration?: JsonObject | (() => JsonObject);
}

export function statsHandlers({
  nodeNumbers,
  machine,
  podStorage,
  cgroupOf,
  cgroupUsage,
  cgroupSettings,
  metrics,
  requests,
  configuration = {},
}: StatsSources) {
  const numbersOf = async (kubelet: ServedKubelet): Promise<ResourceNumbers> => {
    const { pods, ...numbers } = await runtimeNumbers(kubelet, nodeNumbers);
    const usageOf = cgroupUsage === undefined ? undefined : { cgroupUsage, cgroupOf: cgroupsOf(kubelet, cgroupOf) };
    return { ...numbers, pods: usageOf === undefined ? pods : await completeStats(pods, usageOf) };
  };
  const statsSummaryPage: Handler = async ({ kubelet, clock }, { reply, query }) => {
    const numbers = await numbersOf(kubelet).catch((error: unknown) => {
      throw new Refusal(500, `Internal Error: failed to list pod stats: ${error instanceof Error ? error.message : String(error)}`);
    });
    const onlyCpuAndMemory = query.getAll("only_cpu_and_memory").join() === "true";
    const storage = onlyCpuAndMemory || podStorage === undefined ? new Map<string, PodStorage>() : await storageOf(kubelet, podStorage);
    const summary = statsSummary({ nodeName: kubelet.nodeName, nowMs: clock.now(), ...numbers, storage }, { onlyCpuAndMemory });
    sendJson(reply, writeJson(summary));
  };
  const resourceMetricsPage: Handler = async ({ kubelet, log }, { reply }) => {
    const numbers = await numbersOf(kubelet).catch((error: unknown) => {
      log.error("Cannot collect resource metrics", { error });
      return undefined;
    });
    sendText(reply, 200, prometheusText(resourceFamilies(numbers)), { type: PROMETHEUS_TYPE });
  };
  const metricsPage: Handler = async ({ kubelet }, { reply }) => {
    const own = ownFamilies(kubelet.nodeName, await kubelet.runtime.list());
    const volumes = podStorage === undefined ? [] : volumeFamilies((await storageOf(kubelet, podStorage, hasClaim)).values());
    const families = [...own, ...volumes, ...(metrics?.families() ?? []), ...(requests?.families() ?? []), ...processFamilies()];
    sendText(reply, 200, prometheusText(families), { type: PROMETHEUS_TYPE });
  };
  const cadvisorMetricsPage: Handler = async ({ kubelet, log }, { reply }) => {
    const numbers = await numbersOf(kubelet).catch((error: unknown) => {
      log.error("Cannot collect container metrics", { error });
      return undefined;
    });
    const groups = { cgroupOf: cgroupsOf(kubelet, cgroupOf) };
    const settings = numbers === undefined ? new Map() : await settingsOf(cgroupsOfAll(numbers, groups), cgroupSettings);
    const text = prometheusText(cadvisorFamilies(numbers, { machine, ...groups, settings }));
    sendText(reply, 200, text, { type: PROMETHEUS_TYPE });
  };
  const probeMetricsPage: Handler = (_context, { reply }) =>
    sendText(reply, 200, prometheusText(metrics?.probes.families() ?? []), { type: PROMETHEUS_TYPE });
  const configzPage: Handler = (_context, { reply }) =>
    sendJson(reply, writeJson({ kubeletconfig: typeof configuration === "function" ? configuration() : configuration }));
  return { statsSummaryPage, resourceMetricsPage, metricsPage, cadvisorMetricsPage, probeMetricsPage, configzPage };
}

function hasClaim({ spec }: Pod): boolean {
  return (spec?.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => (persistentVolumeClaim ?? ephemeral) !== undefined);
}

/** Sequential, to leave disk bandwidth to others. */
async function storageOf(
  kubelet: ServedKubelet,
  podStorage: PodStorageSource,
  isWanted: (pod: Pod) => boolean = () => true,
): Promise<ReadonlyMap<string, PodStorage>> {
  const found = new Map<string, PodStorage>();
  for (const pod of kubelet.pods().filter(isWanted)) {
    // Its directories may be removed meanwhile.
    const storage = await podStorage(pod).catch(() => undefined);
    if (storage !== undefined) found.set(pod.metadata.uid ?? "", storage);
  }
  return found;
}

async function settingsOf(
  cgroups: readonly string[],
  source: CgroupSettingsSource = () => Promise.resolve(undefined),
): Promise<ReadonlyMap<string, CgroupSettings>> {
  const found = new Map<string, CgroupSettings>();
  for (const cgroup of cgroups) {
    // A Pod may be deleted meanwhile: its group is then missing.
    const settings = await source(cgroup).catch(() => undefined);
    if (settings !== undefined) found.set(cgroup, settings);
  }
  return found;
}

/** "" if unknown. */
function cgroupsOf(kubelet: ServedKubelet, cgroupOf: StatsSources["cgroupOf"]) {
  const byUid = new Map(kubelet.pods().map((pod) => [pod.metadata.uid ?? "", pod]));
  return (podUid: string, containerId?: string): string => {
    const pod = byUid.get(podUid);
    return pod === undefined || cgroupOf === undefined ? "" : cgroupOf(pod, containerId);
  };
}

function ownFamilies(nodeName: string, sandboxes: readonly SandboxStatus[]): readonly Family[] {
  const states = ["created", "running", "exited"] as const;
  const containers = sandboxes.flatMap((sandbox) => sandbox.containers);
  return [
    {
      name: "kubelet_node_name",
      help: "[ALPHA] The node's name. The count is always 1.",
      type: "gauge",
      samples: [{ labels: { node: nodeName }, value: 1 }],
    },
    {
      name: "kubelet_running_containers",
      help: "[ALPHA] Number of containers currently running",
      type: "gauge",
      samples: states.map((is) => ({
        labels: { container_state: is },
        value: containers.filter(({ state }) => state.is === is).length,
      })),
    },
    {
      name: "kubelet_running_pods",
      help: "[ALPHA] Number of pods that have a running pod sandbox",
      type: "gauge",
      samples: [{ labels: {}, value: sandboxes.filter(({ state, containers: own }) => state === "ready" || own.some(isRunning)).length }],
    },
  ];
}
