/** What the rules of this folder know of the node besides the Pod: plain data, read from the machine and the options by somebody else. */
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import type { DnsRun } from "../contracts/container-run.ts";

export interface NodeView {
  /** The main one first, at most one of each family. */
  readonly hostIps: readonly string[];
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly dns: DnsOptions;
  readonly cgroups: CgroupOptions;
  readonly directories: RunDirectories;
  /** Whether the runtime can make everything below a mount read-only. */
  readonly supportsRecursiveReadOnly: boolean;
  /** Of containers that say nothing: the runtime's own profile instead of none. */
  readonly isSeccompDefault?: boolean;
}

export interface DnsOptions {
  /** What the node's own resolver is told; absent: the node has no such file. */
  readonly resolver?: DnsRun;
  /** The addresses of the cluster's DNS; none: Pods resolve as the node does. */
  readonly clusterDns: readonly string[];
  /** "cluster.local"; "" for none. */
  readonly clusterDomain: string;
}

export interface CgroupOptions {
  /** Below which "kubepods" is: "/" or "/k8ts". */
  readonly root: string;
  readonly driver: "cgroupfs" | "systemd";
  readonly version: 1 | 2;
  /** Whether swap can be limited (memory.memsw.limit_in_bytes, memory.swap.max). */
  readonly canLimitSwap: boolean;
  /** Those that the kernel has, as it writes them: "2MB", "1GB". */
  readonly hugePageSizes: readonly string[];
}

/** Absolute paths. */
export interface RunDirectories {
  /** "/var/log/pods" */
  readonly logs: string;
  /** What the kubelet keeps of each Pod, by its uid: "/var/lib/kubelet/pods". */
  readonly pods: string;
  /** Of the profiles that Pods name: "/var/lib/kubelet/seccomp". */
  readonly seccomp: string;
}
