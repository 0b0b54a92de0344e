/**
 * The contract of a container runtime, in the shape of the CRI: sandboxes, containers, images, logs, exec. The kubelet decides what should
 * run; a driver (runtime/<name>) makes it so and tells what is. Only types and words are here; runtime-suite.ts holds every driver to them.
 *
 * Every call may be repeated after a crash: creating what is there answers with what is there, stopping what is stopped and removing what
 * is gone do nothing. Failures are RuntimeErrors. Nothing here knows the API server.
 */
import type { Container, EphemeralContainer, Pod } from "../api/generated/core/v1.ts";

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
  runSandbox(pod: Pod): Promise<SandboxStatus>;
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
  pullImage(image: string, pod: Pod): Promise<string>;
  images(): Promise<readonly Image[]>;
  removeImage(image: string): Promise<void>;

  /** What a container has written, line by line, oldest first; with `follow`, until it ends or the signal comes. */
  logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncIterable<LogLine>;
  /** Runs a command in a running container. Resolves with its exit code. */
  exec(containerId: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number>;

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
  readonly image: string;
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
}

export interface Image {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
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
  readonly stream: "stdout" | "stderr";
  /** Without its end. */
  readonly text: string;
}

export interface ExecStreams {
  /** Undefined: it gets no input. */
  readonly input?: AsyncIterable<Uint8Array>;
  output(chunk: Uint8Array): void;
  error(chunk: Uint8Array): void;
}

export type RuntimeErrorReason = "NotFound" | "ImagePull" | "InvalidImage" | "CannotRun" | "Unavailable";

export class RuntimeError extends Error {
  readonly reason: RuntimeErrorReason;
  constructor(reason: RuntimeErrorReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
