/**
 * Of which containers the pages of numbers tell: as in upstream's kubelets of those that run, of each name the newest, and of Pods that have
 * one. Runtimes also count what has ended and is kept for its log, under the same names: a page would tell one series twice, and a scraper
 * refuses all of such a page.
 */
import { isRunning } from "../runtime-containers.ts";
import type { PodStats, SandboxStatus } from "../runtime.ts";

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
