/**
 * Selects the containers that statistics and metrics include: as upstream's kubelet, running ones, the newest of each name, and Pods that
 * have one. Runtimes also report exited containers that are kept for their log, under the same names: duplicate series would make a scraper
 * reject the whole page.
 */
import { isRunning } from "../../pod/containers/runtime-containers.ts";
import type { PodStats, SandboxStatus, UsageStats } from "../../contracts/runtime.ts";
import type { CgroupUsageSource } from "./node-statistics.ts";

export function liveStats(pods: readonly PodStats[], sandboxes: readonly SandboxStatus[]): readonly PodStats[] {
  const idsByPod = new Map(newestOfEachName(sandboxes.map(runningOnly)).map(({ podUid, containers }) => [podUid, idsOf(containers)]));
  return pods.flatMap((pod) => {
    const containers = pod.containers.filter(({ id }) => idsByPod.get(pod.podUid)?.has(id) === true);
    return containers.length === 0 ? [] : [{ ...pod, containers }];
  });
}

function runningOnly(sandbox: SandboxStatus): SandboxStatus {
  return { ...sandbox, containers: sandbox.containers.filter(isRunning) };
}

/** A force-deleted Pod may still be terminating while its successor of the same name runs. */
function newestOfEachName(sandboxes: readonly SandboxStatus[]): readonly SandboxStatus[] {
  const byAge = sandboxes.filter(({ containers }) => containers.length > 0).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  return [...new Map(byAge.map((sandbox) => [`${sandbox.namespace}/${sandbox.name}`, sandbox])).values()];
}

/** The newest of each name comes first, and a map keeps the last entry. */
function idsOf(containers: SandboxStatus["containers"]): ReadonlySet<string> {
  return new Set(new Map(containers.toReversed().map(({ id, name }) => [name, id])).values());
}

interface CgroupReading {
  readonly cgroupUsage: CgroupUsageSource;
  /** "": unknown. */
  cgroupOf(podUid: string, containerId?: string): string;
}

/** Statistics that a runtime omits (containerd 1.6 reports only the working set of a Pod) are read from the control groups. */
export async function completeStats(pods: readonly PodStats[], { cgroupUsage, cgroupOf }: CgroupReading): Promise<readonly PodStats[]> {
  const complete = async <U extends Partial<UsageStats>>(usage: U, cgroup: string): Promise<U> => {
    if (isComplete(usage) || cgroup === "") return usage;
    // The group of a Pod that is being deleted may be missing, or fail to be read.
    return { ...(await cgroupUsage(cgroup).catch(() => undefined)), ...usage };
  };
  return Promise.all(
    pods.map(async (pod) => ({
      ...(await complete(pod, cgroupOf(pod.podUid))),
      containers: await Promise.all(pod.containers.map((container) => complete(container, cgroupOf(pod.podUid, container.id)))),
    })),
  );
}

/** All that upstream always reports and clients rely on. */
export function isComplete({ cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes }: Partial<UsageStats>): boolean {
  return [cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes].every((figure) => figure !== undefined);
}
