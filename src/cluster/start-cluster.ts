/**
 * Starts `k8ts up` in this process: the control plane, and this machine as a node. The only place where the command line meets the
 * composition root (control-plane.ts).
 */
import { loadBalancerSettings } from "../config/controller-flags.ts";
import { durationMs } from "../config/connection-flags.ts";
import { clusterIpamSettings } from "../config/node-ipam-flags.ts";
import { ADMINISTRATOR } from "../api/identities.ts";
import { clusterCidrsOf, nodeCidrsOf } from "../api/pod-ranges.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import { realRandom } from "../host/real-random.ts";
import type { ControllerSettings } from "../controllers/all.ts";
import { DEFAULT_API_SERVER_CONFIG } from "../apiserver/framework/api-server-config.ts";
import { advertisedAddress, type ApiServerPart } from "../components/api-server/secure-serving.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { startClusterParts, type NodeContext, type NodePart } from "../components/control-plane.ts";
import { dashboardAround } from "../components/dashboard.ts";
import type { Environment } from "../cli/framework/command.ts";
import { ownAddressTypes } from "../config/kubelet-access.ts";
import type { FoundRuntime, PodNetworkPart } from "./machine/prepare-machine.ts";
import { readSchedulerConfig, SCHEDULER_CONFIG_FLAG } from "../config/scheduler-config.ts";
import { rangesOf } from "./machine/machine-network.ts";
import { hasRunContainers } from "./machine/clean-up-machine.ts";
import type { HeldHome } from "./home/cluster-home.ts";
import type { RecordedNode, RecordedPart } from "./home/cluster-record.ts";
import { podAccessProblem, withPodAccess } from "./pod-access.ts";
import { markControlPlane } from "./mark-control-plane.ts";
import { CLUSTER_DOMAIN } from "./machine/cluster-domain.ts";
import { createJoiningPermissions } from "../client/create-joining-permissions.ts";
import type { Client } from "../client/client.ts";
import { createClient } from "../client/rest-client.ts";
import { readWantedNodes } from "./nodes/node-files.ts";
import { renewPodCidrs } from "./renew-pod-cidrs.ts";
import { tryPublishClusterNetwork } from "./publish-cluster-network.ts";
import { simulatedFleet } from "../components/simulated-nodes/simulated-fleet.ts";
import type { Steps } from "../cli/framework/progress.ts";
import type { NodeFleet } from "./nodes/node-fleet.ts";
import type { FleetParts } from "./nodes/start-fleet.ts";
import type { UpOptions } from "./up-options.ts";
import { autoscalerSettings } from "../config/autoscaler-flags.ts";

export interface StartedCluster extends AsyncDisposable {
  readonly list: readonly RecordedPart[];
  readonly door: Pick<ApiServerPart, "url" | "kubeconfig" | "authority" | "admin"> | undefined;
  /** This machine's node. */
  readonly node?: RecordedNode;
  /** Why no containers run, if so. */
  readonly simulatedBecause?: string;
  /** Called when an entry of the list changes. Absent: it never changes. */
  onChange?(listener: () => void): void;
}

export interface StartClusterContext {
  readonly held: HeldHome;
  readonly environment: Environment;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts a start that takes long, with the signal's reason. */
  readonly signal: AbortSignal;
}

export async function startCluster(options: UpOptions, context: StartClusterContext): Promise<StartedCluster> {
  const { store, controllers } = options;
  const { clock, log, steps } = context;
  const scheduler = await clock.external(readSchedulerConfig(options.scheduler, SCHEDULER_CONFIG_FLAG));
  const { simulated, ...machine } = await nodeOf(options, context);
  await using unused = new Disposables();
  if (machine.stopRuntime !== undefined) unused.defer(machine.stopRuntime);
  await using starting = new Disposables();
  // Before the API server, which listens on it for Pods.
  const network = machine.openNetwork === undefined ? undefined : starting.use(await machine.openNetwork());
  if (network !== undefined) await openNodeSegment(network, { options, context, owner: starting });
  const apiServer = withOwnNodes({ ...options.apiServer, serving: withPodAccess(options.apiServer.serving, network) });
  const problem = network === undefined ? undefined : podAccessProblem(apiServer.serving);
  if (problem !== undefined) steps.note(`  warning: ${problem}`);
  const { startNode } = machine;
  // Assigned later: the API server serves its dashboard before it is started.
  const late: { door?: ApiServerPart } = {};
  const parts = starting.use(
    await startClusterParts({
      ...{ store, controllers, scheduler, steps, clock, log, listens: true },
      apiServer,
      controllerSettings: settingsOfControllers(options, network),
      nodes: simulatedFleet({ count: simulated, driver: store.driver, nodeName: options.nodeName, clusterName: context.held.home.name }),
      ...(startNode === undefined || network === undefined
        ? {}
        : { startNode: (node) => startPermittedNode(network, { node, options, context }, startNode) }),
      random: realRandom(),
      aroundExchange: dashboardAround({ clock, log }, () => late.door),
    }),
  );
  // From now on owned by the node.
  unused.move();
  const { door } = parts;
  if (door !== undefined) late.door = door;
  const firstNode = machine.record.node?.name ?? parts.nodes.names()[0];
  const administrator = parts.transportFor(ADMINISTRATOR, K8TS_AGENT);
  if (firstNode !== undefined) await tryMarkControlPlane(administrator, firstNode, steps);
  const { serviceClusterIpRange } = apiServer.api;
  const published = { serviceClusterIpRange, network, clusterDomain: CLUSTER_DOMAIN };
  await tryPublishClusterNetwork(administrator, published, steps);
  const address = advertisedAddress(apiServer.serving);
  const reached = { network, transport: administrator, url: door?.url ?? "", authority: door?.authority ?? "", advertisedAddress: address };
  const fleet = await startFurtherNodes(reached, options, context);
  if (fleet !== undefined) starting.use(fleet);
  const owned = starting.move();
  return {
    get list() {
      return [...parts.list, ...(fleet?.list ?? [])];
    },
    door,
    ...machine.record,
    onChange(listener) {
      parts.onChange(listener);
      fleet?.onChange(listener);
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** The network components of a node read objects as that node, so its permissions come first. */
async function startPermittedNode(
  network: PodNetworkPart,
  { node, options, context }: { readonly node: NodeContext; readonly options: UpOptions; readonly context: StartClusterContext },
  startNode: (network: PodNetworkPart, node: NodeContext) => Promise<NodePart>,
): Promise<NodePart> {
  const client = createClient(node.transportFor(ADMINISTRATOR, K8TS_AGENT));
  await createJoiningPermissions(client);
  await renewNodes(client, network, { options, context });
  return startNode(network, node);
}

/** Nodes of this machine get Pod CIDRs of the current cluster CIDR, before their kubelets start. */
export async function renewNodes(
  client: Client,
  network: PodNetworkPart,
  { options, context: { held, steps, clock } }: { readonly options: UpOptions; readonly context: StartClusterContext },
): Promise<void> {
  const ranges = rangesOf(network);
  if (ranges === undefined) return;
  const others = (await clock.external(readWantedNodes(held.home))).map(({ name }) => name);
  await renewPodCidrs({ client, ranges, first: options.nodeName, others, steps });
}

/** The segment of further nodes on this machine, if there are any. */
export async function openNodeSegment(
  network: PodNetworkPart,
  { options, context, owner }: { readonly options: UpOptions; readonly context: StartClusterContext; readonly owner: Disposables },
): Promise<void> {
  // Loaded on demand.
  const { prepareSegment } = await context.clock.external(import("./nodes/start-fleet.ts"));
  const segment = await prepareSegment(network, options, context);
  if (segment !== undefined) owner.use(segment);
}

/** Those of this machine besides the first. Undefined: it cannot have any. */
export async function startFurtherNodes(
  parts: FleetParts,
  options: UpOptions,
  context: StartClusterContext,
): Promise<NodeFleet | undefined> {
  // Loaded on demand.
  const { startFleet } = await context.clock.external(import("./nodes/start-fleet.ts"));
  return startFleet(parts, options, context);
}

export function settingsOfControllers(options: UpOptions, network?: PodNetworkPart): Partial<ControllerSettings> {
  return {
    ...loadBalancerSettings(options.loadBalancerRange),
    ...ipamSettings(options, network),
    nodeLifecycle: { nodeMonitorGracePeriodMs: durationMs(options.nodeMonitorGracePeriod) },
    horizontalPodAutoscaler: autoscalerSettings(options.autoscaler),
    claimProtection: { reportsUnused: options.apiServer.api.featureGates.PersistentVolumeClaimUnusedSinceTime },
  };
}

function ipamSettings({ apiServer }: UpOptions, network: PodNetworkPart | undefined) {
  const ranges = rangesOf(network);
  return clusterIpamSettings({
    clusterCidrs: ranges === undefined ? [] : clusterCidrsOf(ranges),
    firstNodeCidrs: ranges === undefined ? [] : nodeCidrsOf(ranges),
    serviceClusterIpRange: apiServer.api.serviceClusterIpRange,
  });
}

/** User agent of this command. */
export const K8TS_AGENT = "k8ts";

/** A node without the role works all the same. */
export async function tryMarkControlPlane(transport: Transport, nodeName: string, steps: Steps): Promise<void> {
  await markControlPlane(transport, nodeName).catch((error: unknown) =>
    steps.note(`  warning: labeling node ${nodeName} with the control-plane role failed: ${(error as Error).message}`),
  );
}

interface Machine {
  readonly simulated: number;
  readonly record: Pick<StartedCluster, "node" | "simulatedBecause">;
  readonly openNetwork?: () => Promise<PodNetworkPart>;
  readonly startNode?: (network: PodNetworkPart, context: NodeContext) => Promise<NodePart>;
  /**
   * Stops a container runtime that was started for this, if the rest of the start failed. One that was running before has Pods and is kept.
   */
  readonly stopRuntime?: () => Promise<void>;
}

/** With --simulated-nodes there are only those; otherwise this machine is the node, and if it cannot run containers, one is simulated. */
async function nodeOf(options: UpOptions, context: StartClusterContext): Promise<Machine> {
  const { nodeName } = options;
  const choice = await chooseRuntime(options, context);
  const { simulated, because, runtime } = choice;
  if (runtime === undefined) return { simulated, record: because === undefined ? {} : { simulatedBecause: because } };
  // Loaded on demand.
  const { startMachineNode } = await context.clock.external(import("./machine/machine-node.ts"));
  const { preparePodNetwork } = await context.clock.external(import("./machine/prepare-machine.ts"));
  const machine = machineOptions(options, context);
  return {
    simulated,
    record: { node: recordedNode(nodeName, runtime) },
    openNetwork: () => preparePodNetwork(runtime, machine),
    startNode: (network, node) => startMachineNode({ runtime, network }, machine, node),
    ...(runtime.stop === undefined || runtime.wasAdopted ? {} : { stopRuntime: runtime.stop }),
  };
}

export interface RuntimeChoice {
  /** Number of simulated nodes. */
  readonly simulated: number;
  /** Why a node is simulated without --simulated-nodes. */
  readonly because?: string;
  /** Container runtime of this machine's node. Absent: none. */
  readonly runtime?: FoundRuntime;
}

/** Chooses what runs the Pods. Pods of an earlier start in another container runtime are stopped. */
export async function chooseRuntime(options: UpOptions, context: StartClusterContext): Promise<RuntimeChoice> {
  const { steps, clock } = context;
  const { simulatedNodes, runsContainers } = options;
  if (simulatedNodes > 0 || !runsContainers) {
    await stopOldPods(context);
    return { simulated: simulatedNodes };
  }
  // Loaded on demand.
  const { findRuntime } = await clock.external(import("./machine/prepare-machine.ts"));
  const choice = await steps.step("detected container runtime", () => clock.external(findRuntime(machineOptions(options, context))));
  await stopOldPods(context, choice.is === "there" ? choice.endpoint : undefined);
  return choice.is === "none" ? { simulated: 1, because: choice.why } : { simulated: 0, runtime: choice };
}

export function machineOptions(
  { nodeName, runtimeEndpoint, networkValues, pressure, podRanges }: UpOptions,
  { held, environment, steps, clock, log }: StartClusterContext,
) {
  const { home } = held;
  return {
    ...{ home, nodeName, networkValues, pressure, podRanges, environment, steps, clock, log },
    ...(runtimeEndpoint === undefined ? {} : { runtimeEndpoint }),
  };
}

export function recordedNode(name: string, { endpoint, name: runtime, version }: FoundRuntime): RecordedNode {
  return { name, runtimeEndpoint: endpoint, runtime: `${runtime} ${version}` };
}

/** Pods of an earlier start: those in the chosen runtime are taken over, all others would be orphaned. */
export async function stopOldPods({ held: { home }, environment, steps, clock, log }: StartClusterContext, keep?: string): Promise<void> {
  if (!(await clock.external(hasRunContainers(home)))) return;
  const { stopOrphanedPodsElsewhere: stopPodsOfOthers } = await clock.external(import("./machine/orphaned-pods.ts"));
  await clock.external(stopPodsOfOthers({ home, environment, steps, clock, log, ...(keep === undefined ? {} : { keep }) }));
}

function withOwnNodes(apiServer: ApiServerOptions): ApiServerOptions {
  const { api } = apiServer;
  if (api.kubeletPreferredAddressTypes !== DEFAULT_API_SERVER_CONFIG.kubeletPreferredAddressTypes) return apiServer;
  return { ...apiServer, api: { ...api, kubeletPreferredAddressTypes: ownAddressTypes(api.kubeletPreferredAddressTypes) } };
}
