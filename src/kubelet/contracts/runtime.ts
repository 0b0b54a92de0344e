/**
 * The contract of a container runtime, modelled on the CRI: sandboxes, containers, images, logs, exec. The kubelet decides what should run;
 * a driver (runtime/<name>) runs it and reports the observed state. Only types; testing/runtime-suite.ts verifies every driver.
 *
 * Every call is idempotent, so that it can be repeated after a crash: creating an existing object returns that object, stopping a stopped
 * and removing a removed one do nothing. Failures are RuntimeErrors. Nothing here knows the API server.
 */
import type { Container, EphemeralContainer, Pod } from "../../api/generated/core/v1.ts";
import type { ByteStream } from "../../base/byte-stream.ts";
import type { ContainerRun, LinuxResources, SandboxRun } from "./container-run.ts";

export interface Runtime extends AsyncDisposable {
  /** Node.status.nodeInfo.containerRuntimeVersion: "containerd://2.1.4". */
  readonly version: string;
  /**
   * Which side probes containers. "kubelet": the kubelet runs the probes. "runtime": the runtime reports `ready` and `started` in the
   * container status, and the kubelet runs none.
   */
  readonly probes: "kubelet" | "runtime";
  /** As last reported; absent: the runtime does not report them. */
  readonly features?: RuntimeFeatures | undefined;

  /**
   * Called once, before any other call, with the Pods that the API server has on this node. A runtime without persistent state restores it
   * from them; one that outlives the kubelet does not need it.
   */
  recover?(pods: readonly Pod[]): void;

  /** Called when annotations or labels of the Pod changed, for runtimes that read the behaviour of containers from them. */
  update?(pod: Pod): void;

  /** All sandboxes on this node. */
  list(): Promise<readonly SandboxStatus[]>;
  /** Undefined if the Pod has no sandbox. */
  status(podUid: string): Promise<SandboxStatus | undefined>;

  /** Creates the sandbox of a Pod (its namespaces and network). Returns the existing one if it is ready. */
  runSandbox(pod: Pod, run?: SandboxRun): Promise<SandboxStatus>;
  /** Kills running containers in it. */
  stopSandbox(id: string): Promise<void>;
  /** Also removes its containers and their logs. */
  removeSandbox(id: string): Promise<void>;

  /**
   * Creates a container without starting it and resolves with its id. `attempt` distinguishes it from earlier containers of the same name.
   */
  createContainer(sandboxId: string, config: ContainerConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  /** Sends the stop signal, and SIGKILL after `graceMs` (0: at once). Resolves when the container has exited. */
  stopContainer(id: string, graceMs: number): Promise<void>;
  removeContainer(id: string): Promise<void>;

  /** Undefined if the image is not present. */
  imageStatus(image: string): Promise<Image | undefined>;
  /** Resolves with the image id. Rejects with reason "ImagePull" if the image cannot be pulled. */
  pullImage(image: string, pod: Pod, options?: PullOptions): Promise<string>;
  images(): Promise<readonly Image[]>;
  removeImage(image: string): Promise<void>;
  /** Ids and names of the images of all containers in the runtime, those of other owners included. Absent: images are not collected. */
  usedImages?(): Promise<readonly string[]>;

  /** Log lines of a container, oldest first; with `follow`, until it exits or the signal aborts. */
  logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Runs a command in a running container. Resolves with its exit code. */
  exec(containerId: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number>;
  /**
   * Runs a command without stdin for a probe or hook and collects its output. Killed after the timeout (0: none). Absent: the kubelet uses
   * `exec`.
   */
  execSync?(containerId: string, command: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** Connects the streams to the container's main process. Resolves when it exits. Absent: not supported. */
  attach?(containerId: string, streams: ExecStreams, signal: AbortSignal): Promise<void>;
  /** Connects the stream to a port in the Pod's network namespace until either side closes. Absent: not supported. */
  portForward?(podUid: string, port: number, stream: ByteStream, signal: AbortSignal): Promise<void>;

  /** Changes the resources of a running container. */
  updateContainer?(containerId: string, resources: LinuxResources): Promise<void>;
  /** Current resource usage of all Pods of this node, or of one Pod, independent of failures of the others. */
  stats?(podUid?: string): Promise<readonly PodStats[]>;
  /** Usage of the whole node, by runtimes without a machine (simulated). Absent: the machine is measured. */
  nodeStats?(): Promise<UsageStats>;
  /** Views of images, for image volumes. Absent: the runtime has none. */
  readonly imageViews?: ImageViews;
  /** Usage and mount point of the image file system. Undefined if the runtime does not report it. */
  imageFilesystem?(): Promise<ImageFilesystem | undefined>;
  /** Why the runtime cannot run Pods now (for example NetworkNotReady); undefined if it is ready. */
  notReadyReason?(): Promise<string | undefined>;

  /** Notifies the listener that the state of a Pod changed (a container exited or became ready), so that the kubelet reads it again. */
  watch(listener: (podUid: string) => void): Disposable;
}

export interface SandboxStatus {
  readonly id: string;
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  /** "not-ready": stopped, or its network is lost. */
  readonly state: "ready" | "not-ready";
  readonly createdAtMs: number;
  /** That of the node's primary family first. Empty for Pods with hostNetwork. */
  readonly ips: readonly string[];
  /** Newest attempt of each name first. */
  readonly containers: readonly RuntimeContainer[];
}

export type RuntimeContainerState =
  | { readonly is: "created" }
  | { readonly is: "running"; readonly startedAtMs: number }
  | {
      readonly is: "exited";
      readonly startedAtMs: number;
      readonly finishedAtMs: number;
      readonly exitCode: number;
      /** "Completed", "Error", "OOMKilled", … */
      readonly reason: string;
      /** Termination message (terminationMessagePath). */
      readonly message?: string;
    };

export interface RuntimeContainer {
  readonly id: string;
  readonly name: string;
  /** Number of earlier containers of this name in this Pod. */
  readonly attempt: number;
  /** Image name as the runtime reports it. */
  readonly image: string;
  /** Image name from the Pod's spec, if the runtime records it: "busybox" where the runtime reports "docker.io/library/busybox:latest". */
  readonly requestedImage?: string;
  readonly imageId: string;
  readonly createdAtMs: number;
  readonly state: RuntimeContainerState;
  /** Set only by runtimes that probe containers themselves (`probes`). */
  readonly started?: boolean;
  readonly ready?: boolean;
}

export interface ContainerConfig {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly attempt: number;
  readonly imageId: string;
  /** Resolved configuration on this machine. Absent for runtimes without a machine (simulated). */
  readonly run?: ContainerRun;
  readonly sandboxRun?: SandboxRun;
}

export interface PullOptions {
  /** Tried in this order; empty or absent: anonymous. */
  readonly credentials?: readonly ImageCredentials[];
  /** Cancels the pull. */
  readonly signal?: AbortSignal;
  /** Handler of the RuntimeClass; "" or absent for the default. */
  readonly runtimeHandler?: string;
  /** Called at most once a second, by runtimes that report progress. */
  onProgress?(done: PullProgress): void;
}

export interface PullProgress {
  readonly bytes: number;
  /** Known so far; grows while layers are discovered. */
  readonly totalBytes: number;
}

export interface ImageCredentials {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
  readonly identityToken?: string;
  readonly registryToken?: string;
  readonly serverAddress?: string;
}

/** Counters are cumulative since the container started; rates need two samples. */
export interface UsageStats {
  readonly atMs: number;
  readonly cpuNanoseconds: number;
  readonly cpuNanocores?: number;
  readonly memoryWorkingSetBytes: number;
  readonly memoryUsageBytes?: number;
  readonly memoryRssBytes?: number;
  readonly pageFaults?: number;
  readonly majorPageFaults?: number;
}

/** Traffic of one network interface. */
export interface LinkTraffic {
  readonly rxBytes: number;
  readonly rxErrors?: number;
  readonly txBytes: number;
  readonly txErrors?: number;
}

export interface ImageFilesystem {
  /** Host path. */
  readonly mountPoint: string;
  readonly usedBytes: number;
  readonly inodesUsed?: number;
}

/** Optional features of a runtime (Node.status.runtimeHandlers and .features). */
export interface RuntimeFeatures {
  readonly handlers: readonly RuntimeHandler[];
  readonly hasSupplementalGroupsPolicy: boolean;
}

/** What a RuntimeClass refers to. */
export interface RuntimeHandler {
  /** "": the default one. */
  readonly name: string;
  readonly hasRecursiveReadOnlyMounts: boolean;
  readonly hasUserNamespaces: boolean;
}

/** Receives metrics of runtime calls from drivers that use a remote runtime. */
export interface RuntimeObserver {
  called(call: RuntimeCall): void;
  /** Called after a full relist. `intervalMs`: since the start of the last one; absent for the first. */
  listed(durationMs: number, intervalMs?: number): void;
}

export interface RuntimeCall {
  /** Upstream's operation name: "run_podsandbox". */
  readonly operation: string;
  readonly durationMs: number;
  readonly isFailed: boolean;
}

export interface ContainerStats extends Partial<UsageStats> {
  readonly id: string;
  readonly name: string;
  readonly writableLayerBytes?: number;
  readonly writableLayerInodes?: number;
}

export interface PodStats extends Partial<UsageStats> {
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  readonly containers: readonly ContainerStats[];
  readonly network?: LinkTraffic;
  readonly processes?: number;
}

export interface Image {
  readonly id: string;
  /** Tags and digests. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** User that the image declares: a uid, or a name. */
  readonly user?: { readonly uid: number } | { readonly name: string };
  readonly isPinned?: boolean;
}

export interface LogOptions {
  readonly follow: boolean;
  /** Only lines from this timestamp on. */
  readonly sinceMs?: number;
  /** Only the last lines. */
  readonly tailLines?: number;
}

export interface LogLine {
  readonly atMs: number;
  /** Timestamp as the runtime wrote it, with full precision; absent: `atMs` is exact. */
  readonly time?: string;
  readonly stream: "stdout" | "stderr";
  /** Without the line break. */
  readonly text: string;
  /** The next line continues this one: no line break in between. */
  readonly isPartial?: boolean;
}

export interface ExecStreams {
  /** Absent: no stdin. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** The writer awaits the returned promise, so that a slow reader applies back-pressure to the command. */
  output(chunk: Uint8Array): void | Promise<void>;
  error(chunk: Uint8Array): void | Promise<void>;
  /** Allocates a terminal: stderr is merged into stdout, and `sizes` resizes it. */
  readonly tty?: boolean;
  readonly sizes?: AsyncIterable<TerminalSize>;
}

export interface ExecResult {
  /** Undefined: the timeout expired. */
  readonly exitCode: number | undefined;
  /** stdout and stderr, interleaved. */
  readonly output: Uint8Array;
}

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

export type RuntimeErrorReason = "NotFound" | "ImagePull" | "InvalidImage" | "CannotRun" | "Unavailable";

export class RuntimeError extends Error {
  readonly reason: RuntimeErrorReason;
  constructor(reason: RuntimeErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Read-only views of the files of images. */
export interface ImageViews {
  /** Creates the view, or finds the one of this key. The image is present. Resolves with the mounts that show it. */
  view(image: string, key: string): Promise<readonly ImageMount[]>;
  /** Idempotent. Nothing of it is mounted any more. */
  remove(key: string): Promise<void>;
}

/** As for mount(2): `type` is "bind" or a file system. */
export interface ImageMount {
  readonly type: string;
  readonly source: string;
  readonly options: readonly string[];
}
