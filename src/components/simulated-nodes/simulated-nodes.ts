/**
 * The simulated nodes of a cluster: kubelets in this process with simulated Pods (kubelet/runtime/simulated). Also connects the API server
 * to them, for logs and exec.
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
import { simulatedVolumes } from "../../localpath/simulated-volumes.ts";
import { LOCAL_PATH_AGENT, startProvisioner } from "../../localpath/start-provisioner.ts";
import { Simulation, type SimulationOptions } from "../../kubelet/runtime/simulated/simulation.ts";

/** Upstream's user agent, which determines the field manager. */
const KUBELET_AGENT = "kubelet";

/** Options of simulated nodes. */
export interface NodesOptions extends Partial<
  Pick<SimulatedNodesOptions, "count" | "namePrefix" | "zones" | "region" | "capacity" | "labels" | "taints" | "factsFor">
> {
  /**
   * Simulation of Pods: rules with selectors and settings. Annotations of a Pod take precedence. Default: they start immediately and keep
   * running.
   */
  readonly simulation?: SimulationOptions;
}

export interface NodesConfig extends NodesOptions {
  readonly count: number;
  /** Initial nodes of a restored or forked cluster. Default: `count` nodes with the prefix, all running. */
  readonly members?: readonly FleetMember[];
  /** Names of those that are powered off. Default: none. */
  readonly poweredOff?: readonly string[];
}

/** `before`: nodes of the restored or forked cluster, used if no count is set. */
export function nodesConfig(wanted: number | NodesOptions = {}, before?: NodesConfig): NodesConfig {
  const given = typeof wanted === "number" ? { count: wanted } : wanted;
  const { count = DEFAULT_COUNT, ...options } = given.count === undefined ? { ...before, ...given } : given;
  if (Number.isSafeInteger(count) && count >= 0) return { ...options, count };
  throw new RangeError(`Cannot start ${count} nodes: the number must be an integer of 0 or more`);
}

const DEFAULT_COUNT = 1;

/** Controls the simulated nodes of a cluster. */
export interface ClusterNodes {
  /** Names of all nodes, including stopped ones. */
  names(): readonly string[];
  isRunning(name: string): boolean;
  /** Adds a node; resolves with its name when it is registered. Default name: the next one. */
  add(name?: string): Promise<string>;
  /** Disconnects the node, like a machine that lost its network: its Pods keep running, and their state is found when it comes back. */
  stop(name: string): Promise<void>;
  /** Switches the node off: its containers exit, and are restarted when it starts. */
  powerOff(name: string): Promise<void>;
  isPoweredOff(name: string): boolean;
  /** Reconnects a stopped node, or boots one that is powered off. */
  start(name: string): Promise<void>;
  /** Stops the node permanently. Its Node object stays in the API until it is deleted. */
  remove(name: string): Promise<void>;
}

export interface NodesPart extends ClusterNodes, AsyncDisposable {
  /** Configuration that restores the same nodes. */
  config(): NodesConfig;
  /** Undefined if no node of this name is running, or it continues and has not begun yet. */
  kubelet(name: string): Kubelet | undefined;
  /** The same when it has begun, at once. */
  whenBegun(name: string): Promise<Kubelet | undefined>;
}

export interface NodesContext {
  transportFor(identity: IdentityName, userAgent: string): Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly continues?: SimulatedNodesOptions["continues"];
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** Resolves when all are registered, or, if they continue "meanwhile", at once. */
export async function startNodesPart(config: NodesConfig, context: NodesContext): Promise<NodesPart> {
  const { transportFor, clock, random, log, continues, signal } = context;
  await using starting = new Disposables();
  const { simulation: options, poweredOff = [], ...like } = config;
  const off = new Set(poweredOff);
  const simulation = new Simulation(clock, options);
  // A kubelet may only see its own Pods; shared informers use an identity that sees all.
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
          wasPoweredOff: off.delete(name),
          podCidrs: () => informers.running(nodes)?.get({ name })?.spec?.podCIDRs ?? [],
        }),
      ...{ clock, random, log: log.with({ part: "kubelet" }) },
      ...(continues === undefined ? {} : { continues }),
      ...(signal === undefined ? {} : { signal }),
    }),
  );
  const storage = new SimulatedStorage(context);
  starting.use(storage);
  storage.add(...fleet.names);
  const owned = starting.move();
  return {
    names: () => fleet.names,
    isRunning: (name) => fleet.isRunning(name),
    async add(name) {
      const { nodeName } = await fleet.add(name);
      storage.add(nodeName);
      return nodeName;
    },
    stop: async (name) => fleet.stop(known(fleet, name)),
    start: async (name) => void (await fleet.start(known(fleet, name))),
    async powerOff(name) {
      off.add(known(fleet, name));
      await fleet.stop(name);
    },
    isPoweredOff: (name) => off.has(name),
    async remove(name) {
      await fleet.remove(known(fleet, name));
      off.delete(name);
    },
    kubelet: (name) => fleet.get(name),
    whenBegun: (name) => fleet.whenBegun(name),
    config: () => ({ ...config, members: fleet.members, poweredOff: [...off] }),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** The provisioner of their volumes, one for all. A removed node's volumes are reclaimed, too, since there is nothing to remove. */
class SimulatedStorage implements AsyncDisposable {
  readonly #context: NodesContext;
  readonly #nodeNames = new Set<string>();
  #provisioner: AsyncDisposable | undefined;

  constructor(context: NodesContext) {
    this.#context = context;
  }

  add(...nodeNames: readonly string[]): void {
    for (const name of nodeNames) this.#nodeNames.add(name);
    if (this.#nodeNames.size === 0) return;
    const { transportFor, clock, random, log } = this.#context;
    this.#provisioner ??= startProvisioner({
      volumes: simulatedVolumes,
      isOwnNode: (name) => this.#nodeNames.has(name),
      refusesUnplaced: true,
      transport: transportFor(ADMINISTRATOR, LOCAL_PATH_AGENT),
      ...{ clock, random: random.derive("local-path"), log },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provisioner?.[Symbol.asyncDispose]();
  }
}

function known(fleet: SimulatedNodes, name: string): string {
  if (fleet.names.includes(name)) return name;
  throw new Error(`Simulated node "${name}" does not exist: there are ${fleet.names.join(", ") || "none"}`);
}

/** The kubelet that has the Pod. Throws if none has. */
export async function kubeletOf(part: NodesPart, { metadata, spec }: Pod): Promise<Kubelet> {
  const nodeName = spec?.nodeName ?? "";
  if (nodeName === "") throw new Error(`pod ${metadata.name} does not have a host assigned`);
  const kubelet = await part.whenBegun(nodeName);
  if (kubelet === undefined) throw new Error(`Cannot reach node ${nodeName}: it is not running`);
  return kubelet;
}
