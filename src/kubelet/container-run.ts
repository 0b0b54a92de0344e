/**
 * How a sandbox and a container are run, with everything worked out that the Pod only describes: variables have values, volumes are paths
 * of this machine, users are numbers. What the rules of the Pod come to (running/) is data here, and a runtime driver hands it on; it has
 * the shape of the CRI, in our own words. Only types.
 */

export interface SandboxRun {
  /** "" in the node's own network. */
  readonly hostname: string;
  /** Where the logs of its containers are: an absolute path. */
  readonly logDirectory: string;
  /** Absent: as the node's. */
  readonly dns?: DnsRun;
  readonly portMappings: readonly PortMapping[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** As the runtime's cgroup driver writes it: "/kubepods/burstable/pod<uid>". "": the runtime's own. */
  readonly cgroupParent: string;
  readonly sysctls: Readonly<Record<string, string>>;
  readonly security: SandboxSecurity;
  /** Of the RuntimeClass; "" for the default. */
  readonly runtimeHandler: string;
  /** Of all containers together, for runtimes that make room by it. */
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

/** "pod": one for the Pod; "container": one for each container; "node": the machine's own; "target": that of another container. */
export type NamespaceMode = "pod" | "container" | "node" | "target";

export interface Namespaces {
  readonly network: NamespaceMode;
  readonly pid: NamespaceMode;
  readonly ipc: NamespaceMode;
  /** Of pid "target": the container's id. */
  readonly targetId?: string;
  /** Absent: the machine's users. */
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
  /** A file of this machine (seccomp), or a name (AppArmor). */
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
  /** Of the image's user, if it is a name and not a number. */
  readonly runAsUserName?: string;
  readonly addCapabilities: readonly string[];
  readonly dropCapabilities: readonly string[];
  readonly noNewPrivileges: boolean;
  /** Paths that are hidden or read-only unless procMount is Unmasked. */
  readonly maskedPaths: readonly string[];
  readonly readOnlyPaths: readonly string[];
}

/** What is undefined is not set. */
export interface LinuxResources {
  readonly cpuPeriod?: number;
  readonly cpuQuota?: number;
  readonly cpuShares?: number;
  readonly memoryLimitBytes?: number;
  readonly oomScoreAdj?: number;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
  readonly hugepageLimits?: readonly { readonly pageSize: string; readonly limit: number }[];
  /** For cgroups of version 2. */
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
  /** Empty: the image's. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  /** "": the image's. */
  readonly workingDirectory: string;
  readonly environment: readonly EnvironmentVariable[];
  readonly mounts: readonly MountRun[];
  readonly devices: readonly DeviceRun[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Relative to the sandbox's log directory: "main/0.log". */
  readonly logPath: string;
  readonly stdin: boolean;
  readonly stdinOnce: boolean;
  readonly tty: boolean;
  readonly resources: LinuxResources;
  readonly security: ContainerSecurity;
  /** "SIGUSR1"; absent: the image's, or SIGTERM. */
  readonly stopSignal?: string;
  /** Where this machine finds the container's last words; absent: they are not asked for. */
  readonly terminationMessage?: TerminationMessage;
}

export interface TerminationMessage {
  /** The file of this machine that is mounted at terminationMessagePath. */
  readonly hostPath: string;
  /** Of a container that failed without last words, the end of its log counts. */
  readonly fallsBackToLogs: boolean;
}
