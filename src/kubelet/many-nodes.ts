/**
 * Many nodes in one process, each with a real kubelet of its own identity: they share one informer of Pods and one of Nodes, log shared
 * failures once, and renew their leases less often the more they are, so that thousands of idle nodes cost next to nothing. The runtime is
 * given. Not here: deleting the Node of a removed one from the API.
 */
import type { Taint } from "../api/generated/core/v1.ts";
import { nodes } from "../api/core/v1/node.ts";
import type { IdentityName } from "../api/identities.ts";
import type { ResourceList } from "../api/core/v1/pod/resource-list.ts";
import type { Transport } from "../api/machinery/transport.ts";
import { onAbort } from "../base/abort.ts";
import { assert } from "../base/assert.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import type { Informers } from "../client/informer/informer.ts";
import { kubeletIdentity, LEASE_RENEW_INTERVAL_MS, startKubelet, type Kubelet } from "./kubelet.ts";
import type { NodeFacts } from "./node/node-facts.ts";
import { SharedPods } from "./pod/pod-source.ts";
import type { Runtime } from "./contracts/runtime.ts";
import { SharedFailures } from "./node/shared-failures.ts";

/** Interval added per node: 10 s up to 500 nodes, and at most 50 renewals a second up to 2,000. */
const INTERVAL_PER_NODE_MS = 20;
/** A node counts as lost after 50 s; one renewal within that must be possible, with a margin. */
const INTERVAL_MAX_MS = 40_000;
/** Nodes that register concurrently: enough to keep a remote server busy without flooding it. */
const STARTING_MAX = 32;

const CAPACITY: ResourceList = { cpu: "8", memory: "32Gi", "ephemeral-storage": "100Gi", pods: "110" };

export interface SimulatedNodesOptions {
  readonly count: number;
  /** Initial nodes, for a fleet that continues another one. Default: `count` nodes with the prefix, all running. */
  readonly members?: readonly FleetMember[];
  /** Default: "node-", which gives node-0, node-1, … */
  readonly namePrefix?: string;
  /** Nodes are assigned to these round-robin. Default: none. */
  readonly zones?: readonly string[];
  readonly region?: string;
  /** Defaults: 8 cpu, 32Gi of memory, 100Gi of storage, 110 Pods. */
  readonly capacity?: ResourceList;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly Taint[];
  /** Overrides of one node's facts. */
  readonly factsFor?: (node: SimulatedNode) => Partial<NodeFacts>;
  /** A transport of that identity. */
  readonly transportFor: (identity: IdentityName) => Transport;
  /** Its identity may read all Pods and Nodes. */
  readonly informers: Informers;
  /** Called for each start of a node. Closed when the node stops. */
  readonly runtimeFor: (node: SimulatedNode) => Runtime;
  /** Default: each kubelet writes its own Events. */
  readonly recorderFor?: (node: SimulatedNode) => EventRecorder;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /**
   * The members ran until now on a copy of this state: they continue without registering. "meanwhile": one after the other, and nothing
   * waits for them. Absent: they register.
   */
  readonly continues?: "now" | "meanwhile";
  /** Cancels the start of all nodes. */
  readonly signal?: AbortSignal;
}

export interface SimulatedNode {
  readonly name: string;
  /** Number of nodes created before it. */
  readonly index: number;
  /** Its IP. */
  readonly ip: string;
}

/** One node of a fleet: what another fleet needs to recreate it. */
export interface FleetMember {
  readonly name: string;
  readonly index: number;
  readonly isRunning: boolean;
}

export interface SimulatedNodes extends AsyncDisposable {
  /** All nodes, including stopped ones. */
  readonly names: readonly string[];
  readonly members: readonly FleetMember[];
  /** Undefined if it is stopped or does not exist. */
  get(name: string): Kubelet | undefined;
  /** Also true for one that continues and has not begun yet. */
  isRunning(name: string): boolean;
  /** The kubelet of a running node. One that has not begun yet begins now. */
  whenBegun(name: string): Promise<Kubelet | undefined>;
  /** Adds a node. Default name: the next free one with the prefix. Throws if the name is taken. */
  add(name?: string): Promise<Kubelet>;
  /** Stops the node silently, like a machine without a network. */
  stop(name: string): Promise<void>;
  /** Starts a stopped node. */
  start(name: string): Promise<Kubelet>;
  /** Stops and removes the node. */
  remove(name: string): Promise<void>;
  /** Lease renewal interval of each node, by the number of nodes. */
  readonly leaseRenewIntervalMs: number;
}

/** Resolves when all are registered, or, if they continue "meanwhile", at once. */
export async function startSimulatedNodes(options: SimulatedNodesOptions): Promise<SimulatedNodes> {
  await using starting = new Disposables();
  const fleet = starting.use(new Fleet(options));
  await fleet.startAll();
  starting.move();
  return fleet;
}

export function leaseIntervalMs(nodeCount: number): number {
  return Math.min(INTERVAL_MAX_MS, Math.max(LEASE_RENEW_INTERVAL_MS, nodeCount * INTERVAL_PER_NODE_MS));
}

interface Member {
  readonly node: SimulatedNode;
  running: { readonly kubelet: Kubelet; readonly runtime: Runtime } | undefined;
  /** The last requested state. */
  isWanted: boolean;
  /** It ran in the copied state and has not begun here yet. */
  continues: boolean;
  /** Set while it starts; concurrent callers share it. */
  starting: { readonly kubelet: Promise<Kubelet>; readonly stop: AbortController } | undefined;
  /** Set while it stops: a start waits for it. */
  stopping: Promise<void> | undefined;
}

class Fleet implements SimulatedNodes {
  readonly #options: SimulatedNodesOptions;
  readonly #members = new Map<string, Member>();
  readonly #pods: SharedPods;
  readonly #failures: SharedFailures;
  readonly #stopping = new AbortController();
  /** The start of nodes that nothing waits for. */
  #meanwhile: Promise<void> | undefined;
  #made = 0;

  constructor(options: SimulatedNodesOptions) {
    this.#options = options;
    this.#pods = new SharedPods(options.informers);
    this.#failures = new SharedFailures(options.log);
    options.informers.of(nodes);
  }

  get names(): readonly string[] {
    return [...this.#members.keys()];
  }

  get leaseRenewIntervalMs(): number {
    return leaseIntervalMs(this.#members.size);
  }

  get(name: string): Kubelet | undefined {
    const { running, stopping } = this.#members.get(name) ?? {};
    return stopping === undefined ? running?.kubelet : undefined;
  }

  get members(): readonly FleetMember[] {
    return Array.from(this.#members.values(), ({ node: { name, index }, isWanted }) => ({ name, index, isRunning: isWanted }));
  }

  isRunning(name: string): boolean {
    return this.get(name) !== undefined || this.#members.get(name)?.continues === true;
  }

  async whenBegun(name: string): Promise<Kubelet | undefined> {
    const member = this.#members.get(name);
    return this.get(name) ?? (member?.continues === true ? this.start(name) : undefined);
  }

  async startAll(): Promise<void> {
    const { count, members, continues, signal } = this.#options;
    const names = members === undefined ? Array.from({ length: count }, () => this.#make().name) : this.#makeAgain(members);
    if (continues !== undefined) for (const name of names) Object.assign(this.#memberNamed(name), { continues: true, isWanted: true });
    if (continues !== "meanwhile") return this.#startEach(names, signal);
    const either = signal === undefined ? this.#stopping.signal : AbortSignal.any([signal, this.#stopping.signal]);
    this.#meanwhile = this.#continueEach(names, either);
  }

  /** Never rejects. Each in a turn of its own, so that requests are served in between. */
  async #continueEach(names: readonly string[], signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (const name of names) {
      await new Promise<void>((resolve) => clock.soon(resolve));
      if (signal.aborted) return;
      if (this.#members.get(name)?.continues !== true) continue;
      await this.start(name).catch((error: unknown) => {
        if (!signal.aborted) log.error("Cannot continue a simulated node", { node: name, error });
      });
    }
  }

  async #startEach(names: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const waiting = names.values();
    const starter = async (): Promise<void> => {
      for (const name of waiting) {
        signal?.throwIfAborted();
        await this.start(name);
      }
    };
    const stopListening =
      signal === undefined
        ? undefined
        : onAbort(signal, () => {
            // Errors of stopping are reported to the caller that disposes the fleet.
            this.#stopAll().catch(() => undefined);
          });
    try {
      await Promise.all(Array.from({ length: STARTING_MAX }, starter));
    } finally {
      stopListening?.();
    }
  }

  async add(name?: string): Promise<Kubelet> {
    const node = this.#make(name);
    try {
      return await this.start(node.name);
    } catch (error) {
      this.#members.delete(node.name);
      throw error;
    }
  }

  async start(name: string): Promise<Kubelet> {
    const member = this.#memberNamed(name);
    member.isWanted = true;
    if (member.stopping === undefined && member.running !== undefined) return member.running.kubelet;
    if (member.starting === undefined || member.starting.stop.signal.aborted) member.starting = this.#begin(member);
    return member.starting.kubelet;
  }

  /** Waits for a stop in progress. */
  #begin(member: Member): NonNullable<Member["starting"]> {
    const stop = new AbortController();
    const before = member.stopping ?? Promise.resolve();
    const kubelet = before.then(() => this.#start(member, stop.signal));
    const starting = { kubelet, stop };
    const settled = (): void => {
      if (member.starting === starting) member.starting = undefined;
    };
    const failed = (): void => {
      if (member.starting === starting) member.isWanted = false;
      this.#failures.forget(member.node.name);
      settled();
    };
    kubelet.then(settled, failed);
    return starting;
  }

  async #start(member: Member, signal: AbortSignal): Promise<Kubelet> {
    const { transportFor, informers, runtimeFor, recorderFor, clock, random, log } = this.#options;
    const { node, continues } = member;
    const { name } = node;
    signal.throwIfAborted();
    if (continues) await informers.of(nodes).synced(signal);
    await using starting = new Disposables();
    const runtime = starting.use(runtimeFor(node));
    const kubelet = await startKubelet({
      nodeName: name,
      facts: this.#factsOf(node),
      transport: transportFor(kubeletIdentity(name)),
      runtime,
      pods: this.#pods.of(name),
      node: () => informers.running(nodes)?.get({ name }),
      leaseRenewIntervalMs: () => this.leaseRenewIntervalMs,
      ...(recorderFor === undefined ? {} : { recorder: recorderFor(node) }),
      clock,
      random,
      log,
      failures: this.#failures,
      continues,
      signal,
    });
    starting.move();
    member.continues = false;
    member.running = { kubelet, runtime };
    return kubelet;
  }

  async stop(name: string): Promise<void> {
    const member = this.#memberNamed(name);
    member.isWanted = false;
    member.continues = false;
    const { starting } = member;
    starting?.stop.abort(new Error(`Node ${name} was stopped before it had started`));
    const stopping = Promise.all([member.stopping, starting?.kubelet.catch(() => undefined)]).then(() => this.#stop(member));
    member.stopping = stopping;
    try {
      await stopping;
    } finally {
      if (member.stopping === stopping) member.stopping = undefined;
    }
  }

  async #stop(member: Member): Promise<void> {
    const { running } = member;
    member.running = undefined;
    await running?.kubelet.stop();
    await running?.runtime[Symbol.asyncDispose]();
    this.#failures.forget(member.node.name);
  }

  async remove(name: string): Promise<void> {
    await this.stop(name);
    this.#members.delete(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort(new Error("The simulated nodes were stopped"));
    await this.#stopAll();
    await this.#meanwhile;
    this.#pods[Symbol.dispose]();
  }

  async #stopAll(): Promise<void> {
    await Promise.all(this.names.map((name) => this.stop(name)));
  }

  #memberNamed(name: string): Member {
    const member = this.#members.get(name);
    assert(member !== undefined, "a simulated node was added before it is started or stopped");
    return member;
  }

  #make(given?: string): SimulatedNode {
    if (given !== undefined && this.#members.has(given))
      throw new Error(`There is a simulated node "${given}" already: give it another name`);
    let index = this.#made;
    if (given === undefined) while (this.#members.has(this.#nameOf(index))) index++;
    this.#made = index + 1;
    return this.#take(given ?? this.#nameOf(index), index);
  }

  /** Recreated as they were; returns those to be started. */
  #makeAgain(members: readonly FleetMember[]): readonly string[] {
    for (const { name, index } of members) {
      this.#take(name, index);
      this.#made = Math.max(this.#made, index + 1);
    }
    return members.flatMap(({ name, isRunning }) => (isRunning ? [name] : []));
  }

  #take(name: string, index: number): SimulatedNode {
    const node = { name, index, ip: addressOf(index) };
    this.#members.set(name, { node, running: undefined, isWanted: false, continues: false, starting: undefined, stopping: undefined });
    return node;
  }

  #nameOf(index: number): string {
    return `${this.#options.namePrefix ?? "node-"}${index}`;
  }

  #factsOf(node: SimulatedNode): NodeFacts {
    const { zones = [], region, capacity, taints = [], factsFor } = this.#options;
    const zone = zones[node.index % zones.length];
    const own = factsFor?.(node) ?? {};
    return {
      capacity: { ...CAPACITY, ...capacity },
      addresses: [
        { type: "InternalIP", address: node.ip },
        { type: "Hostname", address: node.name },
      ],
      taints,
      system: systemOf(node),
      ...own,
      labels: {
        ...(zone === undefined ? {} : { "topology.kubernetes.io/zone": zone }),
        ...(region === undefined ? {} : { "topology.kubernetes.io/region": region }),
        ...this.#options.labels,
        ...own.labels,
      },
    };
  }
}

/** From 172.16.0.0/12, which has a million addresses; the first is 172.16.0.1. */
function addressOf(index: number): string {
  const number = index + 1;
  return `172.${16 + (number >>> 16)}.${(number >>> 8) & 255}.${number & 255}`;
}

/** Without a machine, ids are derived from the name. */
function systemOf({ name }: SimulatedNode): NodeFacts["system"] {
  return {
    machineID: name,
    systemUUID: name,
    bootID: name,
    kernelVersion: "6.12.0",
    osImage: "simulated",
    operatingSystem: "linux",
    architecture: "amd64",
  };
}
