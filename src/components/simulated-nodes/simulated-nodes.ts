/**
 * The simulated nodes of a cluster: real node agents in this process, whose Pods are played (kubelet/runtime/simulated). Also the way of
 * the API server to them, for logs and exec.
 */
import { ADMINISTRATOR, type IdentityName } from "../../api/identities.ts";
import type { Pod } from "../../api/generated/core/v1.ts";
import { nodes } from "../../api/core/v1/node.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { createInformers } from "../../client/informer/informers.ts";
import { startSimulatedNodes, type FleetMember, type SimulatedNodes, type SimulatedNodesOptions } from "../../kubelet/many-nodes.ts";
import type { Kubelet } from "../../kubelet/kubelet.ts";
import { simulatedRuntime } from "../../kubelet/runtime/simulated/simulated-runtime.ts";
import { Simulation, type SimulationOptions } from "../../kubelet/runtime/simulated/simulation.ts";

/** Upstream's: the fields that node agents write are this manager's. */
const KUBELET_AGENT = "kubelet";

/** What nodes are like. */
export interface NodesOptions extends Partial<
  Pick<SimulatedNodesOptions, "count" | "namePrefix" | "zones" | "region" | "capacity" | "labels" | "taints" | "factsFor">
> {
  /** How Pods are played: rules for which Pods, with which settings. Annotations of a Pod win over all. Default: they start at once and stay. */
  readonly simulation?: SimulationOptions;
}

export interface NodesConfig extends NodesOptions {
  readonly count: number;
  /** Those that there are at first, of a cluster that goes on from another. Default: `count` of the prefix, all running. */
  readonly members?: readonly FleetMember[];
}

/** `before`: what the cluster had that this one goes on from. It counts as long as no number is given. */
export function nodesConfig(wanted: number | NodesOptions = {}, before?: NodesConfig): NodesConfig {
  const given = typeof wanted === "number" ? { count: wanted } : wanted;
  const { count = DEFAULT_COUNT, ...options } = given.count === undefined ? { ...before, ...given } : given;
  if (Number.isSafeInteger(count) && count >= 0) return { ...options, count };
  throw new RangeError(`Cannot start ${count} nodes: the number must be an integer of 0 or more`);
}

const DEFAULT_COUNT = 1;

/** The machines of a cluster, as who pulls their cables sees them. */
export interface ClusterNodes {
  /** Of all, also of those that are stopped. */
  names(): readonly string[];
  isRunning(name: string): boolean;
  /** One more; resolves with its name when it is registered. Default of the name: the next one. */
  add(name?: string): Promise<string>;
  /** It is silent from now on, as a machine that lost its network: what runs on it goes on, and is found so if it comes back. */
  stop(name: string): Promise<void>;
  /** A stopped one is back. */
  start(name: string): Promise<void>;
  /** Stopped for good. Its Node stays in the API until somebody deletes it. */
  remove(name: string): Promise<void>;
}

export interface NodesPart extends ClusterNodes, AsyncDisposable {
  /** What starts the same ones again. */
  config(): NodesConfig;
  /** Undefined if there is none of this name that runs. */
  kubelet(name: string): Kubelet | undefined;
}

export interface NodesContext {
  transportFor(identity: IdentityName, userAgent: string): Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Gives up the start. */
  readonly signal?: AbortSignal;
}

/** Resolves when all are registered. */
export async function startNodesPart(config: NodesConfig, context: NodesContext): Promise<NodesPart> {
  const { transportFor, clock, random, log, signal } = context;
  await using starting = new Disposables();
  const { simulation: options, ...like } = config;
  const simulation = new Simulation(clock, options);
  // What a single kubelet may see of others' Pods is nothing; what they share is seen by who holds them all.
  const informers = starting.use(createInformers({ transport: transportFor(ADMINISTRATOR, KUBELET_AGENT), clock, random, log }));
  const fleet = starting.use(
    await startSimulatedNodes({
      ...like,
      informers,
      transportFor: (identity) => transportFor(identity, KUBELET_AGENT),
      runtimeFor: ({ name, index }) =>
        simulatedRuntime({
          simulation,
          node: name,
          nodeIndex: index,
          podCidrs: () => informers.running(nodes)?.get({ name })?.spec?.podCIDRs ?? [],
        }),
      ...{ clock, random, log: log.with({ part: "kubelet" }) },
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  const owned = starting.move();
  return {
    names: () => fleet.names,
    isRunning: (name) => fleet.get(name) !== undefined,
    add: async (name) => (await fleet.add(name)).nodeName,
    stop: async (name) => fleet.stop(known(fleet, name)),
    start: async (name) => void (await fleet.start(known(fleet, name))),
    remove: async (name) => fleet.remove(known(fleet, name)),
    kubelet: (name) => fleet.get(name),
    config: () => ({ ...config, members: fleet.members }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

function known(fleet: SimulatedNodes, name: string): string {
  if (fleet.names.includes(name)) return name;
  throw new Error(`Simulated node "${name}" does not exist: there are ${fleet.names.join(", ") || "none"}`);
}

/** The kubelet that has the Pod. Throws if none has. */
export function kubeletOf(part: NodesPart, { metadata, spec }: Pod): Kubelet {
  const nodeName = spec?.nodeName ?? "";
  if (nodeName === "") throw new Error(`pod ${metadata.name} does not have a host assigned`);
  const kubelet = part.kubelet(nodeName);
  if (kubelet === undefined) throw new Error(`Cannot reach node ${nodeName}: it is not running`);
  return kubelet;
}
