/**
 * The contract of a container runtime, in the shape of the CRI: sandboxes, containers, images, logs, exec. The kubelet decides what should
 * run; a driver (runtime/<name>) makes it so and tells what is. Only types and words are here; runtime-suite.ts holds every driver to them.
 *
 * Every call may be repeated after a crash: creating what is there answers with what is there, stopping what is stopped and removing what
 * is gone do nothing. Failures are RuntimeErrors. Nothing here knows the API server.
 */
import type { Container, EphemeralContainer, Pod } from "../api/generated/core/v1.ts";
import type { ByteStream } from "../base/byte-stream.ts";
import type { ContainerRun, LinuxResources, SandboxRun } from "./container-run.ts";

export interface Runtime extends AsyncDisposable {
  /** Of Node.status.nodeInfo.containerRuntimeVersion: "containerd://2.1.4". */
  readonly version: string;
  /**
   * Who looks whether containers are alive and ready. "kubelet": the kubelet probes them. "runtime": the runtime itself says so in
   * `ready` and `started` of their status, and the kubelet probes nothing.
   */
  readonly probes: "kubelet" | "runtime";

  /**
   * Called once, before anything else, with the Pods that the API has on this node: a runtime that remembers nothing by itself finds here
   * what it ran before. One that outlives the kubelet has no need of it.
   */
  recover?(pods: readonly Pod[]): void;

  /** What the Pod's annotations or labels say has changed: for runtimes to which they say what containers do. */
  update?(pod: Pod): void;

  /** Everything that there is on this node. */
  list(): Promise<readonly SandboxStatus[]>;
  /** Undefined if there is none for the Pod of this uid. */
  status(podUid: string): Promise<SandboxStatus | undefined>;

  /** The place of a Pod: its network and its address. Answers with the one that is there, if it is ready. */
  runSandbox(pod: Pod, run?: SandboxRun): Promise<SandboxStatus>;
  /** Kills what still runs in it. */
  stopSandbox(id: string): Promise<void>;
  /** Also removes its containers and their logs. */
  removeSandbox(id: string): Promise<void>;

  /** Made, not started. Resolves with its id; `attempt` tells it from earlier ones of the same name. */
  createContainer(sandboxId: string, config: ContainerConfig): Promise<string>;
  startContainer(id: string): Promise<void>;
  /** Asks it to end, and kills it after `graceMs` (0: at once). Resolves when it has ended. */
  stopContainer(id: string, graceMs: number): Promise<void>;
  removeContainer(id: string): Promise<void>;

  /** Undefined if it is not there. */
  imageStatus(image: string): Promise<Image | undefined>;
  /** Resolves with its id. Rejects with reason "ImagePull" if it cannot be had. */
  pullImage(image: string, pod: Pod, options?: PullOptions): Promise<string>;
  images(): Promise<readonly Image[]>;
  removeImage(image: string): Promise<void>;

  /** What a container has written, line by line, oldest first; with `follow`, until it ends or the signal comes. */
  logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Runs a command in a running container. Resolves with its exit code. */
  exec(containerId: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number>;
  /**
   * Runs a command without input, which is ended when its time is up (0: it has all the time), and gathers what it says: for probes and
   * hooks. Absent: `exec` does.
   */
  execSync?(containerId: string, command: readonly string[], timeoutMs: number): Promise<ExecResult>;
  /** Joins the streams to those of the container's own process. Resolves when it ends. Absent: it has no such process. */
  attach?(containerId: string, streams: ExecStreams, signal: AbortSignal): Promise<void>;
  /** Connects to a port inside the Pod's network, and moves bytes until either side ends. Absent: it has no network. */
  portForward?(podUid: string, port: number, stream: ByteStream, signal: AbortSignal): Promise<void>;

  /** Changes what a running container may use. */
  updateContainer?(containerId: string, resources: LinuxResources): Promise<void>;
  /** What the Pods of this node use now, or only one of them, whatever becomes of the others meanwhile. */
  stats?(podUid?: string): Promise<readonly PodStats[]>;
  /** What images and what containers write take, and where that is. Undefined if it does not say. */
  imageFilesystem?(): Promise<ImageFilesystem | undefined>;
  /** Why nothing can be run now (the network is not ready); undefined if all is well. */
  trouble?(): Promise<string | undefined>;

  /** Told that something of a Pod changed by itself (a container ended, became ready): whoever cares looks again. */
  watch(listener: (podUid: string) => void): Disposable;
}

export interface SandboxStatus {
  readonly id: string;
  readonly podUid: string;
  readonly namespace: string;
  readonly name: string;
  /** "not-ready": stopped, or lost its network. */
  readonly state: "ready" | "not-ready";
  readonly createdAtMs: number;
  /** Empty for Pods in the node's own network. */
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
      /** What it left as its last words (terminationMessagePath). */
      readonly message?: string;
    };

export interface RuntimeContainer {
  readonly id: string;
  readonly name: string;
  /** How often a container of this name was started before in this Pod. */
  readonly attempt: number;
  /** As the runtime calls it. */
  readonly image: string;
  /** As the Pod called it, if the runtime keeps it: "busybox" where the runtime says "docker.io/library/busybox:latest". */
  readonly wantedImage?: string;
  readonly imageId: string;
  readonly createdAtMs: number;
  readonly state: RuntimeContainerState;
  /** Of runtimes that look themselves (`probes`): whether its startup is over, and whether it takes requests. */
  readonly started?: boolean;
  readonly ready?: boolean;
}

export interface ContainerConfig {
  readonly pod: Pod;
  readonly container: Container | EphemeralContainer;
  readonly attempt: number;
  readonly imageId: string;
  /** What it comes to on this machine. Runtimes that have no machine do without. */
  readonly run?: ContainerRun;
  readonly sandboxRun?: SandboxRun;
}

export interface PullOptions {
  /** Tried in this order; none: as anybody. */
  readonly credentials?: readonly ImageCredentials[];
  /** Gives it up. */
  readonly signal?: AbortSignal;
  /** Of the RuntimeClass; "" or absent for the default. */
  readonly runtimeHandler?: string;
  /** Told now and then, at most once a second, of runtimes that can say it. */
  onProgress?(done: PullProgress): void;
}

export interface PullProgress {
  readonly bytes: number;
  /** As far as it is known by now: it grows while the parts are found. */
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

/** Sums since the start are for whoever asks twice. */
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

/** Of one link. */
export interface LinkTraffic {
  readonly rxBytes: number;
  readonly rxErrors?: number;
  readonly txBytes: number;
  readonly txErrors?: number;
}

export interface ImageFilesystem {
  /** A path of this machine. */
  readonly mountPoint: string;
  readonly usedBytes: number;
  readonly inodesUsed?: number;
}

/** Told of what a runtime is asked, by drivers that ask one over a wire. */
export interface RuntimeObserver {
  called(call: RuntimeCall): void;
  /** It was looked through all that there is, to find what has changed. */
  listed(durationMs: number): void;
}

export interface RuntimeCall {
  /** "run_podsandbox", as upstream calls them. */
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
  /** With tags and digests. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
  /** Who its processes are, if it says so: a number, or a name. */
  readonly user?: { readonly uid: number } | { readonly name: string };
  readonly isPinned?: boolean;
}

export interface LogOptions {
  readonly follow: boolean;
  /** Only those from this moment on. */
  readonly sinceMs?: number;
  /** Only the last ones. */
  readonly tailLines?: number;
}

export interface LogLine {
  readonly atMs: number;
  /** As the runtime wrote it, with all its digits; absent: `atMs` says all. */
  readonly time?: string;
  readonly stream: "stdout" | "stderr";
  /** Without its end. */
  readonly text: string;
  /** The line goes on with the next: no line break here. */
  readonly isPartial?: boolean;
}

export interface ExecStreams {
  /** Undefined: it gets no input. */
  readonly input?: AsyncIterable<Uint8Array>;
  /** Whoever writes waits for what it answers, so that a slow reader holds up the command. */
  output(chunk: Uint8Array): void | Promise<void>;
  error(chunk: Uint8Array): void | Promise<void>;
  /** A terminal: one way out, and sizes. */
  readonly tty?: boolean;
  readonly sizes?: AsyncIterable<TerminalSize>;
}

export interface ExecResult {
  /** Undefined: its time was up. */
  readonly exitCode: number | undefined;
  /** Of both streams. */
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
