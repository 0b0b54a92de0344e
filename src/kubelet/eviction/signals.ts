/** What the kubelet measures of its node to decide about evictions. Pure. With upstream's names. */
import type { FilesystemUsage } from "../contracts/pod-storage.ts";

/** Condition of the Node that a signal sets. */
export type PressureCondition = "MemoryPressure" | "DiskPressure" | "PIDPressure";

/** What a Pod gives back when it is evicted. */
export type StarvedResource = "memory" | "ephemeral-storage" | "inodes" | "pids";

export const SIGNALS = {
  "memory.available": { condition: "MemoryPressure", resource: "memory" },
  "nodefs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "nodefs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "imagefs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "imagefs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "containerfs.available": { condition: "DiskPressure", resource: "ephemeral-storage" },
  "containerfs.inodesFree": { condition: "DiskPressure", resource: "inodes" },
  "pid.available": { condition: "PIDPressure", resource: "pids" },
} as const satisfies Readonly<Record<string, { readonly condition: PressureCondition; readonly resource: StarvedResource }>>;

export type Signal = keyof typeof SIGNALS;

export function isSignal(name: string): name is Signal {
  return Object.hasOwn(SIGNALS, name);
}

export interface Observation {
  readonly available: number;
  readonly capacity: number;
}

export type Observations = ReadonlyMap<Signal, Observation>;

/** Absent values are not observed: their thresholds do not apply. */
export interface NodeUsage {
  readonly memoryAvailableBytes?: number;
  readonly memoryWorkingSetBytes?: number;
  readonly rootFilesystem?: FilesystemUsage;
  readonly imageFilesystem?: FilesystemUsage;
  readonly containerFilesystem?: FilesystemUsage;
  readonly processes?: { readonly running: number; readonly max: number };
}

export function observationsOf(usage: NodeUsage): Observations {
  const { memoryAvailableBytes, memoryWorkingSetBytes, processes } = usage;
  const observations = new Map<Signal, Observation>();
  if (memoryAvailableBytes !== undefined && memoryWorkingSetBytes !== undefined)
    observations.set("memory.available", { available: memoryAvailableBytes, capacity: memoryAvailableBytes + memoryWorkingSetBytes });
  for (const [name, disk] of [
    ["nodefs", usage.rootFilesystem],
    ["imagefs", usage.imageFilesystem],
    ["containerfs", usage.containerFilesystem],
  ] as const) {
    if (disk === undefined) continue;
    const { availableBytes: available, capacityBytes: capacity, inodesFree, inodes } = disk;
    observations.set(`${name}.available`, { available, capacity });
    // Some file systems (btrfs) have no fixed number of inodes and report 0 of 0.
    if (inodesFree !== undefined && inodes !== undefined && inodes > 0)
      observations.set(`${name}.inodesFree`, { available: inodesFree, capacity: inodes });
  }
  if (processes !== undefined) observations.set("pid.available", { available: processes.max - processes.running, capacity: processes.max });
  return observations;
}
