/**
 * A container runtime over the CRI: containerd from 1.6 on, CRI-O, Docker with cri-dockerd. The driver is stateless: a new instance
 * recovers everything that runs from the labels of sandboxes and containers (labels.ts). While the runtime is unavailable calls fail with
 * "Unavailable", and once it is back watchers are notified of all Pods.
 *
 * Only objects of `owner` are listed and changed: two clusters may share one runtime.
 */
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { ByteStream } from "../../../base/byte-stream.ts";
import type { Clock } from "../../../base/clock.ts";
import type { Logger } from "../../../base/logger.ts";
import type { LinuxResources, SandboxRun } from "../../contracts/container-run.ts";
import {
  RuntimeError,
  type ContainerConfig,
  type ExecResult,
  type ExecStreams,
  type Image,
  type ImageFilesystem,
  type ImageViews,
  type LogLine,
  type LogOptions,
  type PodStats,
  type PullOptions,
  type Runtime,
  type RuntimeFeatures,
  type RuntimeObserver,
  type SandboxStatus,
} from "../../contracts/runtime.ts";
import { Changes } from "./changes.ts";
import { Commands } from "./commands.ts";
import { CONTAINER_RUNNING } from "./messages/container.ts";
import { Containers } from "./containers.ts";
import { isUnavailable, openCriClient, type CriClient } from "./cri-client.ts";
import { ContainerdImageViews } from "./image-views.ts";
import { Images } from "./images.ts";
import { readLog } from "./logs/log-reader.ts";
import { LOG_ROTATION_DEFAULT, LogRotation, type LogRotationPolicy } from "./logs/log-rotation.ts";
import { PodViews, uidOf } from "./pod-views.ts";
import { healthOf, identify, setUpOf, type RuntimeIdentity, type RuntimeSetUp } from "./runtime-health.ts";
import { Sandboxes } from "./sandboxes.ts";
import { allPodStats, podStats } from "./stats.ts";

export interface CriRuntimeOptions {
  /** "unix:///run/containerd/containerd.sock" */
  readonly endpoint: string;
  /** Owner of the Pods: a cluster's node, by a name that is unique on this machine. */
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly logRotation?: Partial<LogRotationPolicy>;
  /** Absent: calls are not counted. */
  readonly observer?: RuntimeObserver;
  /** True if the node's primary family is IPv6: runtimes report IPv4 addresses first. */
  readonly isIpv6First?: boolean;
}

/** Rejects with a RuntimeError if no runtime answers, or if it is too old. */
export async function openCriRuntime(options: CriRuntimeOptions): Promise<CriRuntime> {
  const client = await openCriClient(options.endpoint, options.clock, options.observer);
  try {
    const identity = await identify(client);
    return new CriRuntime(options, client, identity, await setUpOf(client));
  } catch (error) {
    client[Symbol.dispose]();
    throw error;
  }
}

export class CriRuntime implements Runtime {
  readonly version: string;
  readonly probes = "kubelet";
  /** The runtime's version when it was opened. */
  readonly setUp: RuntimeSetUp;
  readonly #clock: Clock;
  readonly #owner: string;
  readonly #client: CriClient;
  readonly #views: PodViews;
  readonly #sandboxes: Sandboxes;
  readonly #containers: Containers;
  readonly #images: Images;
  readonly #commands: Commands;
  readonly #changes: Changes;
  readonly #rotation: LogRotation;
  readonly imageViews?: ImageViews;
  #features: RuntimeFeatures | undefined;

  constructor(options: CriRuntimeOptions, client: CriClient, identity: RuntimeIdentity, setUp: RuntimeSetUp) {
    const { owner, clock, log, logRotation, observer } = options;
    this.version = `${identity.name}://${identity.version}`;
    this.setUp = setUp;
    this.#features = setUp.features;
    this.#clock = clock;
    this.#owner = owner;
    this.#client = client;
    const views = new PodViews({ client, owner, clock, isIpv6First: options.isIpv6First });
    this.#views = views;
    this.#sandboxes = new Sandboxes({ client, views, owner, log });
    this.#containers = new Containers({ client, views, owner, clock });
    this.#images = new Images(client, clock);
    if (identity.name === "containerd") this.imageViews = new ContainerdImageViews(client, clock);
    this.#commands = new Commands(client, views);
    this.#changes = new Changes({ client, views, owner, runtimeName: identity.name, clock, log, observer });
    this.#rotation = new LogRotation({ client, views, policy: { ...LOG_ROTATION_DEFAULT, ...logRotation }, clock, log });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#changes[Symbol.dispose]();
    await this.#rotation[Symbol.asyncDispose]();
    this.#client[Symbol.dispose]();
  }

  list(): Promise<readonly SandboxStatus[]> {
    return this.#views.list();
  }

  status(podUid: string): Promise<SandboxStatus | undefined> {
    return this.#views.status(podUid);
  }

  get features(): RuntimeFeatures | undefined {
    return this.#features;
  }

  async notReadyReason(): Promise<string | undefined> {
    const { trouble, features } = await healthOf(this.#client);
    // A runtime that is down may be replaced by a newer one; until it answers, its features are unknown and the last ones are kept.
    if (trouble === undefined) this.#features = features;
    return trouble;
  }

  stats(podUid?: string): Promise<readonly PodStats[]> {
    if (podUid !== undefined) return podStats(this.#client, this.#owner, podUid);
    return allPodStats(this.#client, this.#owner, async () => (await this.list()).map((sandbox) => sandbox.podUid));
  }

  watch(listener: (podUid: string) => void): Disposable {
    return this.#changes.watch(listener);
  }

  // ── sandboxes and containers ──────────────────────────────────────────────────────────────────────

  async runSandbox(pod: Pod, run?: SandboxRun): Promise<SandboxStatus> {
    if (run !== undefined) return this.#sandboxes.run(pod, run);
    throw new RuntimeError("CannotRun", `Cannot run a sandbox for Pod ${pod.metadata.name}: its configuration on this machine is missing`);
  }

  stopSandbox(id: string): Promise<void> {
    return this.#sandboxes.stop(id);
  }

  removeSandbox(id: string): Promise<void> {
    return this.#sandboxes.remove(id);
  }

  createContainer(sandboxId: string, config: ContainerConfig): Promise<string> {
    return this.#containers.create(sandboxId, config);
  }

  startContainer(id: string): Promise<void> {
    return this.#containers.start(id);
  }

  stopContainer(id: string, graceMs: number): Promise<void> {
    return this.#containers.stop(id, graceMs);
  }

  removeContainer(id: string): Promise<void> {
    return this.#containers.remove(id);
  }

  updateContainer(id: string, resources: LinuxResources): Promise<void> {
    return this.#containers.update(id, resources);
  }

  // ── images ────────────────────────────────────────────────────────────────────────────────────────

  imageStatus(image: string): Promise<Image | undefined> {
    return this.#images.status(image);
  }

  pullImage(image: string, _pod: Pod, options: PullOptions = {}): Promise<string> {
    return this.#images.pull(image, options);
  }

  images(): Promise<readonly Image[]> {
    return this.#images.list();
  }

  imageFilesystem(): Promise<ImageFilesystem | undefined> {
    return this.#images.filesystem();
  }

  removeImage(image: string): Promise<void> {
    return this.#images.remove(image);
  }

  usedImages(): Promise<readonly string[]> {
    return this.#containers.usedImages();
  }

  // ── statistics, logs and commands ─────────────────────────────────────────────────────────────────

  async *logs(containerId: string, options: LogOptions, signal: AbortSignal): AsyncGenerator<LogLine> {
    const status = await this.#views.containerStatus(containerId);
    const scheme = this.version.slice(0, this.version.indexOf("://"));
    if (status === undefined) throw new RuntimeError("NotFound", `unable to retrieve container logs for ${scheme}://${containerId}`);
    const source = {
      path: status.logPath,
      clock: this.#clock,
      isRunning: () => this.#isRunning(containerId),
      watch: (listener: () => void) => this.#changes.watch((podUid) => (podUid === uidOf(status) ? listener() : undefined)),
    };
    yield* readLog(source, options, signal);
  }

  /** Containers keep running while the runtime is unavailable. */
  async #isRunning(containerId: string): Promise<boolean> {
    try {
      return (await this.#views.containerStatus(containerId))?.state === CONTAINER_RUNNING;
    } catch (error) {
      if (isUnavailable(error)) return true;
      throw error;
    }
  }

  exec(containerId: string, command: readonly string[], streams: ExecStreams, signal: AbortSignal): Promise<number> {
    return this.#commands.exec(containerId, command, streams, signal);
  }

  execSync(containerId: string, command: readonly string[], timeoutMs: number): Promise<ExecResult> {
    return this.#commands.execSync(containerId, command, timeoutMs);
  }

  attach(containerId: string, streams: ExecStreams, signal: AbortSignal): Promise<void> {
    return this.#commands.attach(containerId, streams, signal);
  }

  portForward(podUid: string, port: number, stream: ByteStream, signal: AbortSignal): Promise<void> {
    return this.#commands.portForward(podUid, port, stream, signal);
  }
}
