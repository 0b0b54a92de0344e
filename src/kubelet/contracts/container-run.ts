/**
 * Resolved configuration of a sandbox and of a container: environment variables have values, volumes are host paths, users are numeric.
 * container-config/ computes it from the Pod as data, and a runtime driver passes it on; the shape follows the CRI. Only types.
 */

export interface SandboxRun {
  /** "" for Pods with hostNetwork. */
  readonly hostname: string;
  /** Absolute host path of the directory with the logs of its containers. */
  readonly logDirectory: string;
  /** Absent: the node's resolver configuration. */
  readonly dns?: DnsRun;
  readonly portMappings: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** In the notation of the runtime's cgroup driver: "/kubepods/burstable/pod<uid>". "": the runtime's default. */
  readonly cgroupParent: string;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly security: SandboxSecurity;
  /** Handler of the RuntimeClass; "" for the default. */
  readonly runtimeHandler: string;
  /** Sum over all containers, for runtimes that size the sandbox by it (virtual machines). */
  readonly resources?: LinuxResources;
}

export interface DnsRun {
  readonly servers: readonly string[];
  readonly searches: readonly string[];
  readonly options: readonly string[];
}

export interface PortMapping {
  readonly protocol: "TCP" | "UDP" | "SCTP";
  readonly containerPort: number;
  readonly hostPort: number;
  readonly hostIp: string;
}

/** "pod": shared by the Pod; "container": one per container; "node": the host's; "target": that of another container. */
export type NamespaceMode = "pod" | "container" | "node" | "target";

export interface Namespaces {
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  /** Container id for pid "target". */
  readonly targetId?: string;
  /** Absent: no user namespace. */
  readonly userMapping?: readonly UserMapping[];
}

export interface UserMapping {
  readonly hostId: number;
  readonly containerId: number;
  readonly length: number;
}

export interface SeLinux {
  readonly user: string;
  readonly role: string;
  readonly type: string;
  readonly level: string;
}

export type SecurityProfile =
  | { readonly is: "runtime-default" }
  | { readonly is: "unconfined" }
  /** Path on the host (seccomp), or name of a loaded profile (AppArmor). */
  | { readonly is: "local"; readonly reference: string };

export interface SandboxSecurity {
  readonly namespaces: Namespaces;
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly supplementalGroups: readonly number[];
  /** "Merge" (with the groups of the image's user) or "Strict". */
  readonly supplementalGroupsPolicy: "Merge" | "Strict";
  readonly privileged: boolean;
  readonly readOnlyRoot: boolean;
  readonly seccomp?: SecurityProfile;
  readonly apparmor?: SecurityProfile;
  readonly seLinux?: SeLinux;
}

export interface ContainerSecurity extends SandboxSecurity {
  /** User name from the image, if it is not numeric. */
  readonly runAsUserName?: string;
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  /** Masked and read-only paths; empty if procMount is Unmasked. */
  readonly maskedPaths: readonly string[];
  readonly readOnlyPaths: readonly string[];
}

/** Undefined members are not set. */
export interface LinuxResources {
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[];
  /** cgroup v2 settings by file name. */
  readonly unified?: Readonly<Record<string, string>>;
  readonly memorySwapLimitBytes?: number;
}

export interface MountRun {
  readonly hostPath: string;
  readonly containerPath: string;
  readonly readOnly: boolean;
  readonly propagation: "private" | "host-to-container" | "bidirectional";
  readonly recursiveReadOnly?: boolean;
  readonly seLinuxRelabel?: boolean;
}

export interface DeviceRun {
  readonly hostPath: string;
  readonly containerPath: string;
  /** "rwm" */
  readonly permissions: string;
}

export interface EnvironmentVariable {
  readonly name: string;
  readonly value: string;
}

export interface ContainerRun {
  /** Empty: the image's entrypoint. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** "": the image's working directory. */
  readonly workingDirectory: string;
  readonly environment: readonly EnvironmentVariable[];
  readonly mounts: readonly MountRun[];
  readonly devices: readonly DeviceRun[];
  /** Devices that the runtime resolves by the Container Device Interface: "vendor.example.com/gpu=gpu-0". Absent: none. */
  readonly cdiDevices?: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Relative to the sandbox's log directory: "main/0.log". */
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly resources: LinuxResources;
  readonly security: ContainerSecurity;
  /** "SIGUSR1"; absent: the image's STOPSIGNAL, or SIGTERM. */
  readonly stopSignal?: string;
  /** Where the termination message is read on the host; absent: it is not read. */
  readonly terminationMessage?: TerminationMessage;
}

export interface TerminationMessage {
  /** Host file that is mounted at terminationMessagePath. */
  readonly hostPath: string;
  /** terminationMessagePolicy FallbackToLogsOnError: a failed container without a message reports the end of its log. */
  readonly fallsBackToLogs: boolean;
}
