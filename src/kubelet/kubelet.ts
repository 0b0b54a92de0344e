/**
 * The node agent: registers its Node, keeps it alive with a lease, and has the Pods that are bound to it run in whatever runtime it is
 * given. An idle one has one timer. Stopping it is silence, as of a machine that lost its network: the Node, its lease and its Pods stay in
 * the API as they are, and what runs goes on running; one that is started again over the same finds its way from what there is.
 */
import { nodeIdentity } from "../api/identities.ts";
import type { Pod } from "../api/generated/core/v1.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { createEventRecorder } from "../client/events/create-event-recorder.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import { createInformers } from "../client/informer/informers.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import type { KubeletMetrics } from "./kubelet-metrics.ts";
import { hostIpsOf, type NodeFacts } from "./node/node-facts.ts";
import { NodeKeeper } from "./node/node-status.ts";
import { NodeLease } from "./node/node-lease.ts";
import type { PodMachine } from "./contracts/pod-machine.ts";
import { ownNode, ownPods, type NodeSource, type PodSource } from "./pod/pod-source.ts";
import { PodWorkers } from "./pod/pod-workers.ts";
import type { PullProgress, Runtime, RuntimeContainer } from "./contracts/runtime.ts";
import { newestContainer, previousContainer } from "./pod/containers/runtime-containers.ts";
import { loggedFailures, type NodeFailures } from "./node/shared-failures.ts";
import { releaseLeftovers, stopPods } from "./pod/stop-pods.ts";

/** A quarter of the lease's duration, as upstream. */
export const LEASE_RENEW_INTERVAL_MS = 10_000;
/** Each beat comes so much later at most, by chance, so that nodes that began together drift apart. Upstream's number. */
const BEAT_JITTER = 0.04;
/** How often a runtime that cannot run anything is asked whether it can by now: mostly it has just been started. */
const TROUBLE_LOOK_MS = 1_000;

export interface KubeletOptions {
  readonly nodeName: string;
  readonly facts: NodeFacts;
  /** Of the identity `kubeletIdentity(nodeName)`. */
  readonly transport: Transport;
  /** Stays whoever gave it's: it is not closed here. */
  readonly runtime: Runtime;
  /** Volumes, files and values for real containers. Absent: there is no machine, as of simulated nodes. */
  readonly machine?: PodMachine;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Default: each is told in the log. */
  readonly failures?: NodeFailures;
  /** Default: one that writes Events as this kubelet. Whoever gives one closes it. */
  readonly recorder?: EventRecorder;
  /** Default: an informer of its own of the Pods of this node. */
  readonly pods?: PodSource;
  /** Default: an informer of its own of this Node. */
  readonly node?: NodeSource;
  /** Asked before each renewal. Default: LEASE_RENEW_INTERVAL_MS. */
  readonly leaseRenewIntervalMs?: () => number;
  /** Counts what is done. Absent: nobody wants to know. */
  readonly metrics?: KubeletMetrics;
  /** Told now and then of an image that is being pulled. */
  onPull?(image: string, done: PullProgress): void;
  /** Gives up a start that waits for a server. */
  readonly signal?: AbortSignal;
}

export interface Kubelet extends AsyncDisposable {
  readonly nodeName: string;
  readonly runtime: Runtime;
  /** Of which something is left to do or to be removed. */
  readonly podCount: number;
  /** The Pod as this node knows it, with what it last told of it; undefined if it has none of this name. */
  pod(name: { readonly namespace?: string; readonly name: string }): Pod | undefined;
  /** All of them, in the same form. */
  pods(): readonly Pod[];
  /** For logs and exec: the container of a Pod, or the one before it; undefined if there is none. */
  container(
    pod: { readonly namespace?: string; readonly name: string },
    containerName: string,
    options?: { readonly previous?: boolean },
  ): Promise<RuntimeContainer | undefined>;
  /** Something that a Pod refers to (a ConfigMap, a Secret) has changed: what could not be made of it is tried at once. */
  retry(podUid: string): void;
  /** From now on it is silent. */
  stop(): Promise<void>;
  /**
   * Stops, and then ends all that runs on the node, within `graceMs` at most, without a word to the API: whoever starts next finds the Pods
   * there, and in the runtime how their containers ended, and goes on as after a reboot.
   */
  stopPods(options: { readonly graceMs: number }): Promise<void>;
}

/** Who a kubelet is to the API. */
export const kubeletIdentity = nodeIdentity;

/** Resolves when the Node is registered and its Pods are being seen to. */
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
  readonly #keeper: NodeKeeper;
  readonly #lease: NodeLease;
  readonly #workers: PodWorkers;
  readonly #starting: Disposables;
  #owned: Disposables | undefined;
  #beating: Promise<void> | undefined;

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
    // For whatever a stop waits for, or must not outlast it. Pods' workers stop by themselves, and listening costs at each request.
    const ending = client.with({ signal: this.#stop.signal });
    const sources = this.#sources(starting);
    this.#pods = sources.pods;
    const recorder = options.recorder ?? this.#recorder(client);
    const common = { nodeName, facts, client, runtime, machine, recorder, clock, random: this.#random, log };
    const kept = { ...common, client: ending, failures: options.failures ?? loggedFailures(log) };
    this.#keeper = new NodeKeeper({ ...kept, shownNode: sources.node });
    const node = () => this.#keeper.node;
    this.#lease = new NodeLease({ ...kept, node });
    this.#workers = new PodWorkers({
      ...common,
      node,
      metrics,
      hostIps: hostIpsOf(facts),
      random: this.#random.derive("probes"),
      startedAtMs: clock.now(),
      onImage: () => this.#keeper.imagesChanged(),
      ...(options.onPull === undefined ? {} : { onPull: options.onPull }),
    });
    // The last to be used is the first to be stopped.
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
    await this.#keeper.register(signal);
    await this.#lease.renew(signal);
    this.#starting.use(this.runtime.watch((podUid) => this.#workers.wake(podUid)));
    this.#starting.use(this.#pods.listen(this.#workers));
    for (const sandbox of there) this.#workers.bury(sandbox);
    const { machine, log } = this.#options;
    if (machine !== undefined) await releaseLeftovers((podUid) => this.#workers.has(podUid), { machine, log });
    this.#beating = this.#beat();
  }

  /** Takes over what was started. */
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
    await this.#beating;
  }

  /** What it has not written when the kubelet stops is lost, as all else that was on the way. */
  #recorder(client: Client): EventRecorder {
    const { nodeName, clock, log } = this.#options;
    const { signal } = this.#stop;
    const recorder = createEventRecorder({ client, component: "kubelet", instance: nodeName, clock, random: this.#random, log, signal });
    // Nobody waits for what it will not say any more.
    this.#starting.defer(() => void recorder[Symbol.asyncDispose]());
    return recorder;
  }

  #sources(starting: Disposables): { readonly pods: PodSource; readonly node: NodeSource } {
    const { pods, node, nodeName } = this.#options;
    if (pods !== undefined && node !== undefined) return { pods, node };
    const informers = starting.use(createInformers({ ...this.#options, random: this.#random }));
    return { pods: pods ?? ownPods(informers, nodeName), node: node ?? ownNode(informers, nodeName) };
  }

  /** A node that cannot run anything looks more often whether it can. */
  async #sleepUntilBeat(durationMs: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    let leftMs = durationMs;
    while (this.runtime.notReadyReason !== undefined && this.#keeper.hasTrouble && leftMs > TROUBLE_LOOK_MS) {
      await clock.sleep(TROUBLE_LOOK_MS, signal);
      leftMs -= TROUBLE_LOOK_MS;
      await this.#keeper.sync();
    }
    await clock.sleep(leftMs, signal);
  }

  /** Until it is stopped. */
  async #beat(): Promise<void> {
    const { leaseRenewIntervalMs = () => LEASE_RENEW_INTERVAL_MS } = this.#options;
    const { signal } = this.#stop;
    // The first comes sooner, at a time by chance: nodes that began together do not beat together.
    let part = 0.5 + this.#random.fraction() / 2;
    try {
      for (;;) {
        await this.#sleepUntilBeat(leaseRenewIntervalMs() * part, signal);
        await this.#lease.renew(signal);
        await this.#keeper.sync();
        // The node may have grown.
        this.#workers.decideResizes();
        part = 1 + BEAT_JITTER * this.#random.fraction();
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
