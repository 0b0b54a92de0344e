/** Disk usage of Pods and containers in the format of upstream's stats summary. Pure; measured by machine/pod-storage-on-disk.ts. */
import type { ClaimName, FilesystemUsage, PodStorage, TreeUsage } from "../../contracts/pod-storage.ts";

export interface FilesystemSummary extends Partial<FilesystemUsage> {
  readonly time: string;
}

export interface VolumeSummary extends FilesystemSummary {
  readonly name: string;
  readonly pvcRef?: ClaimName;
  readonly volumeHealthStats?: { readonly abnormal: boolean };
}

/** Its disk, and its usage of that. */
export function filesystemSummary(
  time: string,
  filesystem: FilesystemUsage | undefined,
  used: Partial<TreeUsage> | undefined,
): FilesystemSummary {
  const { availableBytes, capacityBytes, inodesFree, inodes } = filesystem ?? {};
  return {
    time,
    ...given("availableBytes", availableBytes),
    ...given("capacityBytes", capacityBytes),
    ...given("usedBytes", used?.usedBytes),
    ...given("inodesFree", inodesFree),
    ...given("inodes", inodes),
    ...given("inodesUsed", used?.inodesUsed),
  };
}

/** Undefined if none exist: the member is then omitted. */
export function volumeSummaries({ volumes }: PodStorage, time: string): readonly VolumeSummary[] | undefined {
  if (volumes.length === 0) return undefined;
  return volumes.map(({ name, filesystem, used, claim, condition }) => ({
    ...filesystemSummary(time, filesystem, used),
    name,
    ...(claim === undefined ? {} : { pvcRef: { name: claim.name, namespace: claim.namespace } }),
    ...(condition === undefined ? {} : { volumeHealthStats: { abnormal: condition.isAbnormal } }),
  }));
}

export interface OwnStorage {
  readonly time: string;
  /** File system of the node. */
  readonly filesystem: FilesystemUsage | undefined;
  readonly containers: readonly { readonly rootfs?: FilesystemSummary; readonly logs?: FilesystemSummary }[];
  readonly storage: PodStorage;
}

/** Ephemeral storage of the Pod on the node's disk: writable layers, logs, ephemeral volumes, hosts file. */
export function ephemeralStorage({ time, filesystem, containers, storage }: OwnStorage): FilesystemSummary {
  const parts: readonly (Partial<TreeUsage> | undefined)[] = [
    ...containers.flatMap(({ rootfs, logs }) => [rootfs, logs]),
    ...storage.volumes.filter(({ isEphemeral }) => isEphemeral).map(({ used }) => used),
    storage.hostsFile,
  ];
  const sum = (of: (part: Partial<TreeUsage>) => number | undefined): number =>
    parts.reduce((total, part) => total + ((part && of(part)) ?? 0), 0);
  return filesystemSummary(time, filesystem, {
    usedBytes: sum(({ usedBytes }) => usedBytes),
    inodesUsed: sum(({ inodesUsed }) => inodesUsed),
  });
}

export function given<N extends string>(name: N, value: number | undefined): { readonly [name in N]?: number } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [name in N]?: number });
}
