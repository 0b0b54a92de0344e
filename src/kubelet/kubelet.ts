/**
 * The node agent: registers its Node, renews its lease, and runs the Pods that are bound to it on the given runtime. An idle kubelet has
 * one timer. A stopped kubelet is silent, like a machine that lost its network: the Node, its lease and its Pods stay in the API as they
 * are, and containers keep running; a restarted one restores its state from them.
 */
import { nodeIdentity } from "../api/identities.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import type { EventRecorder, RecordedEvent } from "../client/events/event-recorder.ts";
import type { PressureCondition } from "./eviction/signals.ts";
import { createInformers } from "../client/informer/informers.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import type { KubeletMetrics } from "./kubelet-metrics.ts";
import { hostIpsOf, type NodeFacts } from "./node/node-facts.ts";
import { NodeStatusManager } from "./node/node-status.ts";
import { NodeLease } from "./node/node-lease.ts";
import type { PodEviction, PodMachine } from "./contracts/pod-machine.ts";
import { ownNode, ownPods, type NodeSource, type PodSource } from "./pod/pod-source.ts";
import { PodWorkers } from "./pod/pod-workers.ts";
import type { PullProgress, Runtime, RuntimeContainer } from "./contracts/runtime.ts";
import { newestContainer, previousContainer } from "./pod/containers/runtime-containers.ts";
import { loggedFailures, type NodeFailures } from "./node/shared-failures.ts";
import { releaseLeftovers, stopPods } from "./pod/stop-pods.ts";

/** A quarter of the lease's duration, as upstream. */
export const LEASE_RENEW_INTERVAL_MS = 10_000;
/** Maximum jitter per heartbeat, so that nodes that started together drift apart. Upstream's value. */
const HEARTBEAT_JITTER = 0.04;
/** Interval of readiness checks of a runtime that is not ready: mostly it has just been started. */
const TROUBLE_LOOK_MS = 1_000;

/** Interval of looking for what orphaned Pods left, which could not be removed before: a mount in use, a full disk. */
const LEFTOVERS_INTERVAL_MS = 120_000;

export interface KubeletOptions {
  readonly nodeName: string;
  readonly facts: NodeFacts;
  /** Has the identity `kubeletIdentity(nodeName)`. */
  readonly transport: Transport;
  /** Owned by the caller; not closed here. */
  readonly runtime: Runtime;
  /** Volumes, files and cgroups for real containers. Absent on simulated nodes. */
  readonly machine?: PodMachine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: each failure is logged. */
  readonly failures?: NodeFailures;
  /** Default: one that writes Events as this kubelet. One that is passed in is closed by the caller. */
  readonly recorder?: EventRecorder;
  /** Default: its own informer of the Pods of this node. */
  readonly pods?: PodSource;
  /** Default: its own informer of this Node. */
  readonly node?: NodeSource;
  /** Read before each renewal. Default: LEASE_RENEW_INTERVAL_MS. */
  readonly leaseRenewIntervalMs?: () => number;
  /** Absent: no metrics are collected. */
  readonly metrics?: KubeletMetrics;
  /** Called repeatedly while an image is being pulled. */
  onPull?(image: string, done: PullProgress): void;
  /** Its Node, its Lease and the status of its Pods are as another process of this kubelet left them just now: it writes nothing at the start. */
  readonly continues?: boolean;
  /** Cancels a start that waits for a server. */
  readonly signal?: AbortSignal;
}

export interface Kubelet extends AsyncDisposable {
  readonly nodeName: string;
  readonly runtime: Runtime;
  /** Pods that have a worker, including those being removed. */
  readonly podCount: number;
  /** The Pod as this node knows it, with its last reported status; undefined if the node has none of this name. */
  pod(name: { readonly namespace?: string; readonly name: string }): Pod | undefined;
  /** All of them, in the same form. */
  pods(): readonly Pod[];
  /** For logs and exec: the container of a Pod, or its previous attempt; undefined if it does not exist. */
  container(
    pod: { readonly namespace?: string; readonly name: string },
    containerName: string,
    options?: { readonly previous?: boolean },
  ): Promise<RuntimeContainer | undefined>;
  /** An object that a Pod refers to (a ConfigMap, a Secret) changed: failed preparations are retried at once. */
  retry(podUid: string): void;
  /** What the status of a Pod shows may have changed. */
  wake(podUid: string): void;
  /** Writes the attached volumes that Pods use to the Node's status; resolves with those that it shows now. */
  reportVolumesInUse(): Promise<readonly string[]>;
  /** Pods that the node has admitted and that have not ended. */
  activePods(): readonly Pod[];
  /** Terminates a Pod and reports it as Failed with the reason Evicted. */
  evict(podUid: string, eviction: Omit<PodEviction, "reason">): void;
  /** Pressure that the Node reports, and for which it rejects Pods. */
  setPressure(conditions: readonly PressureCondition[]): void;
  /** Records an Event about the Node. */
  recordNodeEvent(event: RecordedEvent): void;
  /** Images were removed: the Node lists them again. */
  imagesChanged(): void;
  /** Records an Event as this kubelet. */
  record(about: KubeObject, event: RecordedEvent): void;
  /** Stops all activity; containers keep running. */
  stop(): Promise<void>;
  /**
   * Stops, and then terminates everything that runs on the node, within `graceMs`, without writing to the API: the next kubelet finds the
   * Pods in the API and the exit codes in the runtime, and continues as after a reboot.
   */
  stopPods(options: { readonly graceMs: number }): Promise<void>;
}

/** The identity of a kubelet to the API server. */
export const kubeletIdentity = nodeIdentity;

/** Resolves when the Node is registered and the workers of its Pods have started. */
export async function startKubelet(options: KubeletOptions): Promise<Kubelet> {
  await using starting = new Disposables();
  const kubelet = new RunningKubelet(options, starting);
  await kubelet.start();
  kubelet.keep(starting.move());
  return kubelet;
}

class RunningKubelet implements Kubelet {
  readonly nodeName: string;
  readonly runtime: Runtime;
  readonly #options: KubeletOptions;
  readonly #random: Random;
  readonly #stop = new AbortController();
  readonly #pods: PodSource;
  readonly #nodeStatus: NodeStatusManager;
  readonly #lease: NodeLease;
  readonly #workers: PodWorkers;
  readonly #starting: Disposables;
  readonly #eventRecorder: EventRecorder;
  #owned: Disposables | undefined;
  #heartbeats: Promise<void> | undefined;
  #leftoversAtMs = 0;

  constructor(options: KubeletOptions, starting: Disposables) {
    const { nodeName, facts, transport, runtime, machine, clock, log, signal, metrics } = options;
    this.nodeName = nodeName;
    this.runtime = runtime;
    this.#options = options;
    this.#starting = starting;
    this.#random = options.random.derive(`kubelet of ${nodeName}`);
    signal?.addEventListener("abort", () => this.#stop.abort(signal.reason), { once: true });
    if (signal?.aborted === true) this.#stop.abort(signal.reason);
    const client = createClient(transport).with({ fieldManager: "kubelet" });
    // Signal for requests that a stop waits for or that must not outlast it. Pod workers stop by themselves: a listener per request is
    // costly.
    const ending = client.with({ signal: this.#stop.signal });
    const sources = this.#sources(starting);
    this.#pods = sources.pods;
    const recorder = options.recorder ?? this.#recorder(client);
    this.#eventRecorder = recorder;
    const common = { nodeName, facts, client, runtime, machine, recorder, clock, random: this.#random, log };
    const kept = { ...common, client: ending, failures: options.failures ?? loggedFailures(log) };
    this.#nodeStatus = new NodeStatusManager({ ...kept, shownNode: sources.node });
    const node = () => this.#nodeStatus.node;
    this.#lease = new NodeLease({ ...kept, node });
    this.#workers = new PodWorkers({
      ...common,
      node,
      metrics,
      hostIps: hostIpsOf(facts),
      random: this.#random.derive("probes"),
      startedAtMs: clock.now(),
      onImage: () => this.#nodeStatus.imagesChanged(),
      ...(options.onPull === undefined ? {} : { onPull: options.onPull }),
    });
    // Disposed in reverse order.
    starting.defer(() => this.#silence());
  }

  get podCount(): number {
    return this.#workers.size;
  }

  pod(name: { readonly namespace?: string; readonly name: string }): Pod | undefined {
    return this.#workers.find(name);
  }

  pods(): readonly Pod[] {
    return this.#workers.list();
  }

  async container(
    pod: { readonly namespace?: string; readonly name: string },
    containerName: string,
    { previous = false } = {},
  ): Promise<RuntimeContainer | undefined> {
    const uid = this.#workers.find(pod)?.metadata.uid;
    const sandbox = uid === undefined ? undefined : await this.runtime.status(uid);
    return previous ? previousContainer(sandbox, containerName) : newestContainer(sandbox, containerName);
  }

  async start(): Promise<void> {
    const { signal } = this.#stop;
    await this.#pods.synced(signal);
    this.runtime.recover?.(this.#pods.list());
    const there = await this.runtime.list();
    if (this.#options.continues === true && this.#nodeStatus.resume()) this.#lease.resume();
    else {
      await this.#nodeStatus.register(signal);
      await this.#lease.renew(signal);
    }
    this.#starting.use(this.runtime.watch((podUid) => this.#workers.wake(podUid)));
    this.#starting.use(this.#pods.listen(this.#workers));
    for (const sandbox of there) this.#workers.bury(sandbox);
    await this.#releaseLeftovers();
    this.#heartbeats = this.#heartbeat();
  }

  /** Takes ownership of what was started. */
  keep(owned: Disposables): void {
    this.#owned = owned;
  }

  async stop(): Promise<void> {
    await this.#silence();
    await this.#owned?.[Symbol.asyncDispose]();
  }

  retry(podUid: string): void {
    this.#workers.retry(podUid);
  }

  wake(podUid: string): void {
    this.#workers.wake(podUid);
  }

  reportVolumesInUse(): Promise<readonly string[]> {
    return this.#nodeStatus.reportVolumesInUse();
  }

  activePods(): readonly Pod[] {
    return this.#workers.active();
  }

  evict(podUid: string, eviction: Omit<PodEviction, "reason">): void {
    this.#workers.evict(podUid, eviction);
  }

  setPressure(conditions: readonly PressureCondition[]): void {
    this.#workers.setPressure(conditions);
    this.#nodeStatus.setPressure(conditions);
  }

  recordNodeEvent(event: RecordedEvent): void {
    this.#nodeStatus.record(event);
  }

  imagesChanged(): void {
    this.#nodeStatus.imagesChanged();
  }

  record(about: KubeObject, event: RecordedEvent): void {
    this.#eventRecorder.record(about, event);
  }

  async stopPods({ graceMs }: { readonly graceMs: number }): Promise<void> {
    await this.stop();
    const { runtime, machine, facts, clock, log } = this.#options;
    const pods = await this.#workers.settled(graceMs);
    await stopPods(pods, { runtime, machine, hostIps: hostIpsOf(facts), clock, log, graceMs });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #silence(): Promise<void> {
    this.#stop.abort(new Error(`The kubelet of ${this.nodeName} has stopped`));
    this.#workers.stop();
    await this.#heartbeats;
  }

  /** Unwritten Events are lost when the kubelet stops, like every other request in flight. */
  #recorder(client: Client): EventRecorder {
    const { nodeName, clock, log } = this.#options;
    const { signal } = this.#stop;
    const recorder = createEventRecorder({ client, component: "kubelet", instance: nodeName, clock, random: this.#random, log, signal });
    // The recorder is not flushed.
    this.#starting.defer(() => void recorder[Symbol.asyncDispose]());
    return recorder;
  }

  #sources(starting: Disposables): { readonly pods: PodSource; readonly node: NodeSource } {
    const { pods, node, nodeName } = this.#options;
    if (pods !== undefined && node !== undefined) return { pods, node };
    const informers = starting.use(createInformers({ ...this.#options, random: this.#random }));
    return { pods: pods ?? ownPods(informers, nodeName), node: node ?? ownNode(informers, nodeName) };
  }

  /** A node whose runtime is not ready is checked more often. */
  async #sleepUntilHeartbeat(durationMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let leftMs = durationMs;
    while (this.runtime.notReadyReason !== undefined && this.#nodeStatus.hasTrouble && leftMs > TROUBLE_LOOK_MS) {
      await clock.sleep(TROUBLE_LOOK_MS, signal);
      leftMs -= TROUBLE_LOOK_MS;
      await this.#nodeStatus.sync();
    }
    await clock.sleep(leftMs, signal);
  }

  /** Of Pods without a worker: their directories, volumes and cgroups. */
  async #releaseLeftovers(): Promise<void> {
    const { machine, clock, log } = this.#options;
    // None begins while one runs.
    this.#leftoversAtMs = Number.POSITIVE_INFINITY;
    if (machine !== undefined) await releaseLeftovers((podUid) => this.#workers.has(podUid), { machine, log });
    this.#leftoversAtMs = clock.monotonic() + LEFTOVERS_INTERVAL_MS;
  }

  /** Until it is stopped. */
  async #heartbeat(): Promise<void> {
    const { leaseRenewIntervalMs = () => LEASE_RENEW_INTERVAL_MS } = this.#options;
    const { signal } = this.#stop;
    // The first heartbeat has jitter over the whole interval: nodes that started together do not renew together.
    let part = 0.5 + this.#random.fraction() / 2;
    try {
      for (;;) {
        await this.#sleepUntilHeartbeat(leaseRenewIntervalMs() * part, signal);
        await this.#lease.renew(signal);
        await this.#nodeStatus.sync();
        // Not awaited: a volume that does not respond must not stop the heartbeats.
        if (this.#options.clock.monotonic() >= this.#leftoversAtMs) void this.#releaseLeftovers();
        // The node's capacity may have grown.
        this.#workers.decideResizes();
        part = 1 + HEARTBEAT_JITTER * this.#random.fraction();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
