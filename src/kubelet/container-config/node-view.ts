/** What this folder needs to know about the node: plain data, read from the machine and the options by the caller. */
import type { ResourceList } from "../../api/core/v1/pod/resource-list.ts";
import type { DnsRun } from "../contracts/container-run.ts";

export interface NodeView {
  /** The primary one first, at most one per family. */
  readonly hostIps: readonly string[];
  readonly capacity: ResourceList;
  readonly allocatable: ResourceList;
  readonly dns: DnsOptions;
  readonly cgroups: CgroupOptions;
  readonly directories: RunDirectories;
  /** Default profile of containers without one: RuntimeDefault instead of Unconfined. */
  readonly isSeccompDefault?: boolean;
}

export interface DnsOptions {
  /** The node's resolv.conf; absent: the node has no such file. */
  readonly resolver?: DnsRun;
  /** Addresses of the cluster's DNS; empty: Pods resolve as the node does. */
  readonly clusterDns: readonly string[];
  /** "cluster.local"; "" for none. */
  readonly clusterDomain: string;
}

export interface CgroupOptions {
  /** Parent of "kubepods": "/" or "/k8ts". */
  readonly root: string;
  readonly driver: "cgroupfs" | "systemd";
  readonly version: 1 | 2;
  /** Whether swap can be limited (memory.memsw.limit_in_bytes, memory.swap.max). */
  readonly canLimitSwap: boolean;
  /** Huge page sizes of the kernel, as it writes them: "2MB", "1GB". */
  readonly hugePageSizes: readonly string[];
}

/** Absolute paths. */
export interface RunDirectories {
  /** "/var/log/pods" */
  readonly logs: string;
  /** Pod directories, named by uid: "/var/lib/kubelet/pods". */
  readonly pods: string;
  /** Localhost seccomp profiles: "/var/lib/kubelet/seccomp". */
  readonly seccomp: string;
}
