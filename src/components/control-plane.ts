/**
 * The composition root: from a configuration to the parts that run in this process, started in the order in which they need
 * each other and stopped in the reverse. A start that fails half-way stops what it had started.
 */
import type { IdentityName } from "../api/identities.ts";
import { parseIp } from "../api/machinery/ip-address.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { newUid } from "../apiserver/framework/storage/identifiers.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { machineName } from "../host/files/private-files.ts";
import type { SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import type { Store } from "../store/store.ts";
import { startApiServerInProcess, startApiServerOn, type StartContext } from "./api-server/start-api-server.ts";
import type { AdvertisedAddress, ApiServerPart } from "./api-server/secure-serving.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { CONTROLLER_MANAGER_AGENT, controllerSettings } from "./controllers.ts";
import { DECISIONS_ELSEWHERE, decisionsDocument } from "./api-server/decisions-document.ts";
import type { LeaderElectedComponent, ActiveComponent } from "./leader-election/leader-elected-component.ts";
import type { Election } from "./leader-election/leader-elected.ts";
import {
  CONTROLLER_MANAGER_LEASE,
  startLeaderElectedControllers,
  type LeaderElectedControllers,
} from "./leader-election/leader-elected-controllers.ts";
import { checkApiServerFiles } from "./api-server/check-files.ts";
import { nodesConnector } from "./simulated-nodes/nodes-connector.ts";
import { startNodesPart, type NodesConfig, type NodesPart } from "./simulated-nodes/simulated-nodes.ts";
import { serveStore } from "./store/serve-store.ts";
import { openStore } from "./store/open-store.ts";
import type { Pki } from "../pki/pki.ts";
import { kubernetesServiceIpv4 } from "./api-server/serving-tls.ts";
import { silentSteps, type Steps } from "../cli/framework/progress.ts";
import { SCHEDULER_AGENT, SCHEDULER_LEASE, startLeaderElectedScheduler, type LeaderElectedScheduler } from "./scheduler.ts";
import type { StoreConfig } from "../config/store-config.ts";

/** A store that is open already belongs to who opened it; its configuration says what it is. */
export interface OpenedStore {
  readonly config: StoreConfig;
  readonly opened: Store;
}

export interface ClusterPartsOptions {
  readonly store: StoreConfig | OpenedStore;
  readonly apiServer: ApiServerOptions;
  /** Whether it can be reached from outside. If not, what `apiServer` says about serving does not matter. */
  readonly listens: boolean;
  /** As --controllers of `k8ts controller-manager` takes them. */
  readonly controllers: readonly string[];
  /** Absent: none runs. */
  readonly scheduler?: SchedulerConfiguration;
  readonly nodes: NodesConfig;
  /** This machine as a node, besides the simulated ones. Absent: it is none. */
  startNode?(context: NodeContext): Promise<NodePart>;
  /** Told of what is being done. */
  readonly steps?: Steps;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly aroundExchange?: StartContext["aroundExchange"];
  /** Default: made anew, or kept where the serving configuration says; without a door, those that everybody knows. */
  readonly pki?: Pki;
}

/** What a node needs of the rest of the cluster. */
export interface NodeContext {
  transportFor(identity: IdentityName, userAgent: string): Transport;
  /** The cluster IP of the Service "kubernetes", and where the API server listens for Pods. Absent: Pods cannot reach it. */
  readonly apiServer?: { readonly clusterIp: string; readonly target: AdvertisedAddress };
  readonly pki: Pki;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface NodePart extends AsyncDisposable {
  /** Its name, and what runs its containers. */
  readonly description: string;
}

/** Something that runs. */
export interface ClusterPart {
  readonly name: string;
  /** What a person would like to know of it: its kind, its place. */
  readonly description: string;
}

export interface ClusterParts extends AsyncDisposable {
  readonly list: readonly ClusterPart[];
  readonly store: Store;
  readonly core: ApiServer;
  /** Absent: it has no door. */
  readonly door: ApiServerPart | undefined;
  readonly controllers: LeaderElectedControllers;
  readonly scheduler: LeaderElectedScheduler | undefined;
  readonly nodes: NodesPart;
  transportFor(identity: IdentityName, userAgent: string): Transport;
}

export async function startClusterParts(options: ClusterPartsOptions): Promise<ClusterParts> {
  const { clock, log, apiServer, random, steps = silentSteps } = options;
  await using starting = new Disposables();
  if (options.listens) await clock.external(checkApiServerFiles(apiServer));
  const { config, opened } = "opened" in options.store ? options.store : { config: options.store, opened: undefined };
  const open = () => steps.step("opened store", () => openStore(config, { clock, log: log.with({ part: "store" }) }));
  const store = opened ?? starting.use(disposableStore(await open()));
  // These come after the server that shows their figures and leads to them.
  const late: { controllers?: LeaderElectedControllers; scheduler?: LeaderElectedScheduler; nodes?: NodesPart } = {};
  const context: StartContext = {
    ...{ clock, log, random: random.derive("apiserver") },
    moreMetrics: () => [...(late.controllers?.metrics() ?? []), ...(late.scheduler?.metrics() ?? [])],
    moreDocuments: [decisionsDocument({ acting: () => late.scheduler?.acting(), elsewhere: DECISIONS_ELSEWHERE })],
    connector: (network) => nodesConnector(() => late.nodes, { clock, network }),
    ...(options.aroundExchange === undefined ? {} : { aroundExchange: options.aroundExchange }),
    ...(options.pki === undefined ? {} : { pki: options.pki }),
  };
  const server = starting.use(await steps.step("started API server", () => startServer(store, options, context)));
  if (config.driver === "embedded") starting.use(await clock.external(serveStore(store, config.dataDirectory, { log })));
  const { core } = server;
  // In this process nobody needs to show who they are.
  const transportFor = (user: IdentityName, userAgent: string): Transport => core.transport({ user, userAgent });
  // Before those who look at nodes: then all are there from the first look on.
  const nodes = starting.use(await startNodesPart(options.nodes, { transportFor, clock, random: random.derive("nodes"), log }));
  late.nodes = nodes;
  const { pki } = server.certificates;
  const reached = podsReach(apiServer, server.door?.advertised);
  const nodeContext = { transportFor, ...reached, pki, clock, random: random.derive("node"), log: log.with({ part: "kubelet" }) };
  const node = options.startNode === undefined ? undefined : starting.use(await options.startNode(nodeContext));
  const led = { clock, log, isFenced: config.driver === "etcd" };
  const controllers = starting.use(
    startLeaderElectedControllers({
      ...led,
      controllers: options.controllers,
      settings: controllerSettings(server.certificates),
      transportFor: (identity) => transportFor(identity, CONTROLLER_MANAGER_AGENT),
      election: { lease: CONTROLLER_MANAGER_LEASE, ...candidate(config, random) },
      random: random.derive("controllers"),
    }),
  );
  late.controllers = controllers;
  const scheduler =
    options.scheduler === undefined
      ? undefined
      : starting.use(
          startLeaderElectedScheduler({
            ...led,
            configuration: options.scheduler,
            transportFor: (identity) => transportFor(identity, SCHEDULER_AGENT),
            election: { lease: SCHEDULER_LEASE, ...candidate(config, random) },
            random: random.derive("scheduler"),
          }),
        );
  if (scheduler !== undefined) late.scheduler = scheduler;
  const list = [
    { name: "store", description: describeStore(config) },
    { name: "API server", description: server.door?.url ?? "in this process, without a port" },
    { name: "controllers", description: describeControllers(await acting(controllers, config)) },
    ...(scheduler === undefined ? [] : [{ name: "scheduler", description: describeScheduler(await acting(scheduler, config)) }]),
    ...(node === undefined ? [] : [{ name: "node", description: node.description }]),
    ...(nodes.names().length === 0 ? [] : [{ name: "nodes", description: `${nodes.names().length} simulated` }]),
  ];
  const owned = starting.move();
  const dispose = () => owned[Symbol.asyncDispose]();
  return { list, store, core, door: server.door, controllers, scheduler, nodes, transportFor, [Symbol.asyncDispose]: dispose };
}

async function startServer(store: Store, { listens, apiServer }: ClusterPartsOptions, context: StartContext) {
  if (!listens) {
    const server = await startApiServerInProcess(store, apiServer, context);
    return { ...server, door: undefined, certificates: { authority: server.pki.authority, pki: server.pki } };
  }
  const server = await startApiServerOn(store, apiServer, context);
  return { ...server, door: server.part, certificates: server.part };
}

function podsReach({ api }: ApiServerOptions, target: AdvertisedAddress | undefined): Pick<NodeContext, "apiServer"> {
  const clusterIp = kubernetesServiceIpv4(api.serviceClusterIpRange);
  return clusterIp === undefined || target === undefined || parseIp(target.address)?.family !== 4
    ? {}
    : { apiServer: { clusterIp, target } };
}

function disposableStore(store: Store): Store & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** On etcd another may be on its way to lead, and on a store of one's own it is known at once. */
async function acting<Part extends ActiveComponent>(led: LeaderElectedComponent<Part>, { driver }: StoreConfig): Promise<Part | undefined> {
  if (driver === "etcd") return undefined;
  return (await Promise.race([led.started, led.isLedByAnother])) ?? undefined;
}

/**
 * The only process on its store renews its lease seldom, since nobody could take it while the server is down; under one name, it takes
 * it again at once when it comes back. A controller manager that runs by itself can lead, if it was first. On etcd there may be any number.
 */
function candidate({ driver }: StoreConfig, random: Random): Omit<Election, "lease"> {
  if (driver === "etcd") return { identity: `${machineName()}_${newUid(random)}` };
  return { identity: "k8ts-up", leaseDurationMs: 3_600_000, renewDeadlineMs: 2_400_000, retryPeriodMs: 30_000 };
}

/** Undefined: another leads, or it is not known yet who does. */
function describeControllers(running: { readonly names: readonly string[] } | undefined): string {
  if (running === undefined) return "run by the leader (Lease kube-system/kube-controller-manager)";
  return running.names.length === 0 ? "none" : `${running.names.length} running`;
}

function describeScheduler(running: { readonly schedulerNames: readonly string[] } | undefined): string {
  if (running === undefined) return "run by the leader (Lease kube-system/kube-scheduler)";
  return running.schedulerNames.join(", ");
}

export function describeStore(config: StoreConfig): string {
  switch (config.driver) {
    case "memory":
      return "in memory, lost when this process exits";
    case "embedded":
      return `in ${config.dataDirectory}`;
    case "etcd":
      return `in etcd at ${config.servers.join(", ")}`;
  }
}
