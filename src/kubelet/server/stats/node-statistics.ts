/** Resource usage of a node's machine, as its provider reports it to the server. Unknown values are omitted. Only types. */
import type { FilesystemUsage } from "../../contracts/pod-storage.ts";
import type { LinkTraffic, UsageStats } from "../../contracts/runtime.ts";

export interface NodeNumbers extends Partial<UsageStats> {
  /** Boot time. */
  readonly startedAtMs?: number;
  readonly memoryAvailableBytes?: number;
  readonly network?: NetworkNumbers;
  /** File systems of the node itself, of images, and of containers' writable layers. */
  readonly rootFilesystem?: FilesystemUsage;
  readonly imageFilesystem?: FilesystemUsage;
  readonly containerFilesystem?: FilesystemUsage;
  readonly processes?: { readonly running: number; readonly max: number };
  /** Control groups other than Pods', by upstream's names: "pods" is that of all Pods together. */
  readonly systemContainers?: readonly SystemContainerStats[];
}

export interface SystemContainerStats extends UsageStats {
  readonly name: "pods";
}

export interface NetworkNumbers extends LinkTraffic {
  /** Interface of the default route: "eth0". */
  readonly name: string;
}

/** Usage of a control group. Undefined: it does not exist, or has no accounting. */
export type CgroupUsageSource = (cgroup: string) => Promise<UsageStats | undefined>;

/** Limits of a control group, and how its CPU limit throttled it. Amounts of 0 are unlimited. */
export interface CgroupSettings {
  readonly cpuShares?: number;
  /** Microseconds. */
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly throttling?: { readonly periods: number; readonly throttledPeriods: number; readonly throttledSeconds: number };
  readonly memoryLimitBytes: number;
  readonly memoryReservationBytes: number;
  readonly memorySwapLimitBytes: number;
  readonly memoryCacheBytes: number;
  readonly memorySwapBytes: number;
}

/** Undefined: it does not exist. */
export type CgroupSettingsSource = (cgroup: string) => Promise<CgroupSettings | undefined>;

export type NodeNumbersSource = () => Promise<NodeNumbers>;
