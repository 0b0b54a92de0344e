/** What the machine of a node uses, as whoever can look at it tells the server. Everything that is not known is left out. Only types. */
import type { FilesystemUsage } from "../../contracts/pod-storage.ts";
import type { LinkTraffic, UsageStats } from "../../contracts/runtime.ts";

export interface NodeNumbers extends Partial<UsageStats> {
  /** When the machine began to run. */
  readonly startedAtMs?: number;
  readonly memoryAvailableBytes?: number;
  readonly network?: NetworkNumbers;
  /** Of the node itself, of images, and of what containers write. */
  readonly rootFilesystem?: FilesystemUsage;
  readonly imageFilesystem?: FilesystemUsage;
  readonly containerFilesystem?: FilesystemUsage;
  readonly processes?: { readonly running: number; readonly max: number };
  /** Control groups that are no Pods', under upstream's names: "pods" is that of all Pods together. */
  readonly systemContainers?: readonly SystemContainerStats[];
}

export interface SystemContainerStats extends UsageStats {
  readonly name: "pods";
}

export interface NetworkNumbers extends LinkTraffic {
  /** Of the interface with the way out: "eth0". */
  readonly name: string;
}

/** What a control group uses. Undefined: it does not exist, or does not count. */
export type CgroupUsageSource = (cgroup: string) => Promise<UsageStats | undefined>;

export type NodeNumbersSource = () => Promise<NodeNumbers>;
