/** Resource usage of this machine for the kubelet's stats endpoints. Read on demand. */
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { cgroupUsage } from "../../host/kernel/cgroup-usage.ts";
import { diskUsage, machineUsage } from "../../host/kernel/machine-usage.ts";
import type { FilesystemUsage } from "../../kubelet/contracts/pod-storage.ts";
import type { Runtime } from "../../kubelet/contracts/runtime.ts";
import { CpuRate } from "../../kubelet/server/stats/cpu-rate.ts";
import type { NodeNumbersSource, SystemContainerStats } from "../../kubelet/server/stats/node-statistics.ts";

export interface MachineStatisticsOptions {
  readonly rootDirectory: string;
  /** Parent cgroup of all Pods. Absent: none. */
  readonly podsCgroup?: string;
  readonly runtime: Pick<Runtime, "imageFilesystem">;
  readonly clock: Clock;
  readonly log: Logger;
}

export function machineStatistics(options: MachineStatisticsOptions): NodeNumbersSource {
  const { rootDirectory, clock } = options;
  const rate = new CpuRate(clock, async () => (await machineUsage(clock.now())).cpuNanoseconds);
  const podsRate = new CpuRate(clock, async () => (await usageOfPods())?.cpuNanoseconds ?? 0);
  const usageOfPods = async () => (options.podsCgroup === undefined ? undefined : cgroupUsage(options.podsCgroup));
  const podsNumbers = async (): Promise<SystemContainerStats | undefined> => {
    if ((await usageOfPods()) === undefined) return undefined;
    const cpuNanocores = await podsRate.nanocores();
    const usage = await usageOfPods();
    return usage === undefined ? undefined : { name: "pods", atMs: clock.now(), cpuNanocores, ...usage };
  };
  return async () => {
    const [cpuNanocores, rootFilesystem, images, pods] = await Promise.all([
      rate.nanocores(),
      diskUsage(rootDirectory),
      imageNumbers(options),
      podsNumbers(),
    ]);
    return {
      ...(await machineUsage(clock.now())),
      atMs: clock.now(),
      cpuNanocores,
      rootFilesystem,
      systemContainers: pods === undefined ? [] : [pods],
      // Writable layers are on the image file system, as far as the runtime reports.
      ...(images === undefined ? {} : { imageFilesystem: images, containerFilesystem: images }),
    };
  };
}

/** Size of the disk, and the share of the runtime. */
export async function imageNumbers({
  runtime,
  log,
}: Pick<MachineStatisticsOptions, "runtime" | "log">): Promise<FilesystemUsage | undefined> {
  try {
    const found = await runtime.imageFilesystem?.();
    if (found === undefined) return undefined;
    const { mountPoint, usedBytes, inodesUsed } = found;
    const { inodesUsed: _all, ...disk } = await diskUsage(mountPoint);
    return { ...disk, usedBytes, ...(inodesUsed === undefined ? {} : { inodesUsed }) };
  } catch (error) {
    log.warn("Reading the disk usage of images failed", { error });
    return undefined;
  }
}
