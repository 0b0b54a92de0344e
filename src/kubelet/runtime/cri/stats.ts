/**
 * Resource usage of the Pods of this node, from the CRI's statistics. Where a runtime has none of Pods, only their containers are reported.
 */
import { entriesOf } from "../../../base/protobuf/shared-messages.ts";
import type { ContainerStats, PodStats, UsageStats } from "../../contracts/runtime.ts";
import { mapOf, millisecondsOf } from "./messages/common.ts";
import { isUnimplemented, type CriClient } from "./cri-client.ts";
import { CONTAINER_NAME, OWNER, POD_NAME, POD_NAMESPACE, POD_UID } from "./labels.ts";
import {
  listContainerStats,
  listPodSandboxStats,
  type ContainerStatsMessage,
  type CpuUsage,
  type MemoryUsage,
  type SandboxStatsMessage,
} from "./messages/stats.ts";

/**
 * Of all Pods. containerd responds with an error while one of them is being removed: then each Pod is requested alone, and those that fail
 * are left out. Rejects if all of them fail.
 */
export async function allPodStats(
  client: CriClient,
  owner: string,
  podUids: () => Promise<readonly string[]>,
): Promise<readonly PodStats[]> {
  try {
    return await podStats(client, owner);
  } catch (error) {
    const uids = [...new Set(await podUids())];
    const each = await Promise.allSettled(uids.map((uid) => podStats(client, owner, uid)));
    const found = each.flatMap((result) => (result.status === "fulfilled" ? result.value : []));
    if (uids.length > 0 && each.every(({ status }) => status === "rejected")) throw error;
    return found;
  }
}

/** `podUid`: of one Pod alone. For all Pods containerd returns nothing while one of them is being removed. */
export async function podStats(client: CriClient, owner: string, podUid?: string): Promise<readonly PodStats[]> {
  const filter = { labels: entriesOf({ [OWNER]: owner, ...(podUid === undefined ? {} : { [POD_UID]: podUid }) }) };
  const [{ stats: containers }, sandboxes] = await Promise.all([
    client.call(listContainerStats, { filter }),
    client.call(listPodSandboxStats, { filter }).then(
      ({ stats }) => stats,
      (error: unknown) => {
        if (isUnimplemented(error)) return [];
        throw error;
      },
    ),
  ]);
  return statsByPod(containers, sandboxes);
}

export function statsByPod(containers: readonly ContainerStatsMessage[], sandboxes: readonly SandboxStatsMessage[]): PodStats[] {
  const pods = new Map<string, PodStats>();
  const podOf = (labels: ReadonlyMap<string, string>): PodStats => {
    const podUid = labels.get(POD_UID) ?? "";
    return pods.get(podUid) ?? { podUid, namespace: labels.get(POD_NAMESPACE) ?? "", name: labels.get(POD_NAME) ?? "", containers: [] };
  };
  for (const { attributes, linux } of sandboxes) {
    const pod = podOf(mapOf(attributes?.labels ?? []));
    const traffic = linux?.network?.defaultInterface;
    const count = (value: { readonly value: bigint } | undefined): number => Number(value?.value ?? 0n);
    const network =
      traffic === undefined
        ? {}
        : {
            network: {
              ...{ rxBytes: count(traffic.rxBytes), rxErrors: count(traffic.rxErrors) },
              ...{ txBytes: count(traffic.txBytes), txErrors: count(traffic.txErrors) },
            },
          };
    const processes = linux?.process?.processCount;
    const counted = processes === undefined ? {} : { processes: Number(processes.value) };
    pods.set(pod.podUid, { ...pod, ...usageOf(linux?.cpu, linux?.memory), ...network, ...counted });
  }
  for (const one of containers) {
    const pod = podOf(mapOf(one.attributes?.labels ?? []));
    pods.set(pod.podUid, { ...pod, containers: [...pod.containers, containerStats(one)] });
  }
  return [...pods.values()];
}

function containerStats({ attributes, cpu, memory, writableLayer }: ContainerStatsMessage): ContainerStats {
  const layer = writableLayer?.usedBytes;
  const inodes = writableLayer?.inodesUsed;
  return {
    id: attributes?.id ?? "",
    name: mapOf(attributes?.labels ?? []).get(CONTAINER_NAME) ?? "",
    ...usageOf(cpu, memory),
    ...(layer === undefined ? {} : { writableLayerBytes: Number(layer.value) }),
    ...(inodes === undefined ? {} : { writableLayerInodes: Number(inodes.value) }),
  };
}

/** Omits values that were not collected yet. */
function usageOf(cpu: CpuUsage | undefined, memory: MemoryUsage | undefined): Partial<UsageStats> {
  const { coreNanoseconds, nanoCores, timestamp = 0n } = cpu ?? {};
  const { workingSetBytes, usageBytes, rssBytes, pageFaults, majorPageFaults } = memory ?? {};
  if (coreNanoseconds === undefined && workingSetBytes === undefined) return {};
  return {
    atMs: millisecondsOf(timestamp !== 0n ? timestamp : (memory?.timestamp ?? 0n)),
    cpuNanoseconds: Number(coreNanoseconds?.value ?? 0n),
    ...(nanoCores === undefined ? {} : { cpuNanocores: Number(nanoCores.value) }),
    memoryWorkingSetBytes: Number(workingSetBytes?.value ?? 0n),
    ...(usageBytes === undefined ? {} : { memoryUsageBytes: Number(usageBytes.value) }),
    ...(rssBytes === undefined ? {} : { memoryRssBytes: Number(rssBytes.value) }),
    ...(pageFaults === undefined ? {} : { pageFaults: Number(pageFaults.value) }),
    ...(majorPageFaults === undefined ? {} : { majorPageFaults: Number(majorPageFaults.value) }),
  };
}
