/**
 * Of which containers the pages of numbers tell: as in upstream's kubelets of those that run, of each name the newest, and of Pods that have
 * one. Runtimes also count what has ended and is kept for its log, under the same names: a page would tell one series twice, and a scraper
 * refuses all of such a page.
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

/** A Pod that was deleted by force may still end when its successor of the same name runs. */
function newestOfEachName(sandboxes: readonly SandboxStatus[]): readonly SandboxStatus[] {
  const byAge = sandboxes.filter(({ containers }) => containers.length > 0).toSorted((a, b) => a.createdAtMs - b.createdAtMs);
  return [...new Map(byAge.map((sandbox) => [`${sandbox.namespace}/${sandbox.name}`, sandbox])).values()];
}

/** The newest of each name comes first, and a map keeps what is put in last. */
function idsOf(containers: SandboxStatus["containers"]): ReadonlySet<string> {
  return new Set(new Map(containers.toReversed().map(({ id, name }) => [name, id])).values());
}

interface CgroupFigures {
  readonly cgroupUsage: CgroupUsageSource;
  /** "": it is not known. */
  cgroupOf(podUid: string, containerId?: string): string;
}

/** What a runtime leaves out (containerd 1.6 says of a Pod as a whole only its working set) is read from the control groups. */
export async function completeStats(pods: readonly PodStats[], { cgroupUsage, cgroupOf }: CgroupFigures): Promise<readonly PodStats[]> {
  const complete = async <U extends Partial<UsageStats>>(usage: U, cgroup: string): Promise<U> => {
    if (isComplete(usage) || cgroup === "") return usage;
    return { ...(await cgroupUsage(cgroup)), ...usage };
  };
  return Promise.all(
    pods.map(async (pod) => ({
      ...(await complete(pod, cgroupOf(pod.podUid))),
      containers: await Promise.all(pod.containers.map((container) => complete(container, cgroupOf(pod.podUid, container.id)))),
    })),
  );
}

/** All that upstream always says, and clients rely on. */
export function isComplete({ cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes }: Partial<UsageStats>): boolean {
  return [cpuNanoseconds, memoryWorkingSetBytes, memoryUsageBytes, memoryRssBytes].every((figure) => figure !== undefined);
}
