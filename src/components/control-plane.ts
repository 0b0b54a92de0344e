/**
 * The composition root: starts the components of a configuration in this process in dependency order and stops them in reverse order. A
 * start that fails stops what it had started.
 */
import type { IdentityName } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { ApiServer } from "../apiserver/api-server.ts";
import { newUid } from "../base/uuid.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { useExternal } from "../base/use-external.ts";
import { IN_PROCESS_HOST, RequestMetrics } from "../client/request-metrics.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import { machineName } from "../host/files/private-files.ts";
import type { SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import type { ControllerSettings } from "../controllers/all.ts";
import type { Store } from "../store/store.ts";
import { startApiServerInProcess, startApiServerOn, type StartContext } from "./api-server/start-api-server.ts";
import type { AdvertisedAddress, ApiServerPart } from "./api-server/secure-serving.ts";
import type { ApiServerOptions } from "../config/api-server-config.ts";
import { CONTROLLER_MANAGER_AGENT, controllerSettings } from "./controllers.ts";
import { openCauseLog } from "./api-server/cause-log.ts";
import { DECISIONS_ELSEWHERE, decisionsDocument } from "./api-server/decisions-document.ts";
import { readDecisions } from "./pages/decisions-page.ts";
import type { LeaderElectedComponent, ActiveComponent } from "./leader-election/leader-elected-component.ts";
import type { Election } from "./leader-election/leader-elected.ts";
import {
  CONTROLLER_MANAGER_LEASE,
  startLeaderElectedControllers,
  type LeaderElectedControllers,
} from "./leader-election/leader-elected-controllers.ts";
import { checkApiServerFiles } from "./api-server/check-files.ts";
import type { NodeConnector } from "../apiserver/framework/node-connector.ts";
import { kubeletCaller, type CallKubelet } from "./node/kubelet-caller.ts";
import { nodesConnector } from "./simulated-nodes/nodes-connector.ts";
import { startNodesPart, type NodesConfig, type NodesContext, type NodesPart } from "./simulated-nodes/simulated-nodes.ts";
import { serveStore } from "./store/serve-store.ts";
import { openStore } from "./store/open-store.ts";
import type { Pki } from "../pki/pki.ts";
import { dnsServiceAddresses } from "./api-server/serving-tls.ts";
import { silentSteps, type Steps } from "../cli/framework/progress.ts";
import { SCHEDULER_AGENT, SCHEDULER_LEASE, startLeaderElectedScheduler, type LeaderElectedScheduler } from "./scheduler.ts";
import type { StoreConfig } from "../config/store-config.ts";
import { processFamilies } from "../host/processes/process-metrics.ts";

/** An open store is owned by the caller; its configuration describes it. */
export interface OpenedStore {
  readonly config: StoreConfig;
  readonly opened: Store;
}

export interface ClusterPartsOptions {
  readonly store: StoreConfig | OpenedStore;
  readonly apiServer: ApiServerOptions;
  /** True if it serves HTTPS. Otherwise the serving options of `apiServer` are ignored. */
  readonly listens: boolean;
  /** Value of --controllers of `k8ts controller-manager`. */
  readonly controllers: readonly string[];
  /** Besides those that derive from the API server's certificates. */
  readonly controllerSettings?: Partial<ControllerSettings>;
  /** Absent: no scheduler runs. */
  readonly scheduler?: SchedulerConfiguration;
  readonly nodes: NodesConfig;
  /** Starts this machine's node, besides the simulated ones. Absent: none. */
  startNode?(context: NodeContext): Promise<NodePart>;
  /** Progress reporting. */
  readonly steps?: Steps;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Called when the API server serves. The other components start when it resolves; if it rejects, the start fails. */
  beforeComponents?(core: ApiServer): Promise<void>;
  readonly aroundExchange?: StartContext["aroundExchange"];
  /** Wraps the connections of components to the API server. */
  readonly aroundTransport?: (transport: Transport, identity: IdentityName, userAgent: string) => Transport;
  /** Default: generated, or kept where the serving configuration says; without HTTPS, the fixed ones. */
  readonly pki?: Pki;
  readonly advertised?: StartContext["advertised"];
  /** The store is a copy of a running cluster's: simulated nodes continue as they are there. Default: they register. */
  readonly fork?: ForkStart;
}

export interface ForkStart {
  /** False: resolves when the API server is there; nodes, controllers and scheduler begin meanwhile. */
  readonly isAwaited: boolean;
}

/** What a node needs of the cluster. */
export interface NodeContext {
  transportFor(identity: IdentityName, userAgent: string): Transport;
  /** Absent: this process cannot call the kubelets of other nodes. */
  readonly callKubelet?: CallKubelet;
  /** The API server's address for Pods, the endpoint of the Service "kubernetes". Absent: Pods cannot reach it. */
  readonly apiServer?: { readonly target: AdvertisedAddress };
  /** Cluster IPs of the Service kube-system/kube-dns, one per range of cluster IPs. */
  readonly clusterDns: readonly string[];
  /** Default: cluster.local. */
  readonly clusterDomain?: string;
  /** The cluster's CA, and the kubelet's serving certificate. */
  readonly pki: Pick<Pki, "authority" | "makeNodeServingCertificate">;
  /** Aborts a start that waits for the server. */
  readonly signal?: AbortSignal;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface NodePart extends AsyncDisposable {
  /** Its name and container runtime. */
  readonly description: string;
  /** Components that run beside its kubelet, as they are now. */
  readonly parts: readonly ClusterPart[];
  /** Called after each change of them. Absent: they never change. */
  onChange?(listener: () => void): void;
}

/** A running component. */
export interface ClusterPart {
  readonly name: string;
  /** For output: its kind and location. */
  readonly description: string;
}

export interface ClusterParts extends AsyncDisposable {
  /** As they are now. */
  readonly list: readonly ClusterPart[];
  /** Called after each change of the list. */
  onChange(listener: () => void): void;
  readonly store: Store;
  readonly core: ApiServer;
  /** Absent: it does not serve HTTPS. */
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
  // Assigned later: they start after the server that serves their metrics and connects to them.
  const late: {
    controllers?: LeaderElectedControllers;
    scheduler?: LeaderElectedScheduler;
    nodes?: NodesPart;
    connector?: NodeConnector;
  } = {};
  const requests = new RequestMetrics(clock);
  const causes = await clock.external(openCauseLog(config, store, clock));
  if (causes !== undefined) starting.use(causes);
  const context: StartContext = {
    ...{ clock, log, random: random.derive("apiserver") },
    moreMetrics: () => [
      ...(late.controllers?.metrics() ?? []),
      ...(late.scheduler?.metrics() ?? []),
      ...requests.families(),
      ...processFamilies(),
    ],
    moreDocuments: [decisionsDocument({ read: (query) => readDecisions(query, late.scheduler?.acting()), elsewhere: DECISIONS_ELSEWHERE })],
    ...(causes === undefined ? {} : { causes }),
    connector: (network) => (late.connector = nodesConnector(() => late.nodes, { clock, network })),
    ...(options.aroundExchange === undefined ? {} : { aroundExchange: options.aroundExchange }),
    ...(options.pki === undefined ? {} : { pki: options.pki }),
    ...(options.advertised === undefined ? {} : { advertised: options.advertised }),
  };
  const server = starting.use(await steps.step("started API server", () => startServer(store, options, context)));
  if (config.driver === "embedded") useExternal(starting, clock, await clock.external(serveStore(store, config.dataDirectory, { log })));
  const { core } = server;
  await options.beforeComponents?.(core);
  // In this process no authentication is needed.
  const { aroundTransport = (transport: Transport) => transport } = options;
  const transportFor = (user: IdentityName, userAgent: string): Transport =>
    requests.counted(aroundTransport(core.transport({ user, userAgent }), user, userAgent), IN_PROCESS_HOST);
  // Before the controllers that watch nodes, which then see all of them from the start.
  const nodes = starting.use(
    await startNodesPart(options.nodes, { transportFor, clock, random: random.derive("nodes"), log, ...continued(options.fork) }),
  );
  late.nodes = nodes;
  const { pki } = server.certificates;
  const clusterDns = dnsServiceAddresses(apiServer.api.serviceClusterIpRange);
  const reached = { ...podsReach(server.door?.advertised), clusterDns };
  const addressTypes = apiServer.api.kubeletPreferredAddressTypes;
  const callKubelet = kubeletCaller({ connector: () => late.connector, addressTypes });
  const nodeContext = {
    transportFor,
    callKubelet,
    ...reached,
    pki,
    clock,
    random: random.derive("node"),
    log: log.with({ part: "kubelet" }),
  };
  const node = options.startNode === undefined ? undefined : starting.use(await options.startNode(nodeContext));
  const electionOptions = { clock, log, isFenced: config.driver === "etcd" };
  const controllers = starting.use(
    startLeaderElectedControllers({
      ...electionOptions,
      controllers: options.controllers,
      settings: { ...controllerSettings(server.certificates), ...options.controllerSettings },
      transportFor: (identity) => transportFor(identity, CONTROLLER_MANAGER_AGENT),
      election: { lease: CONTROLLER_MANAGER_LEASE, ...candidate(config, random) },
      random: random.derive("controllers"),
    }),
  );
  late.controllers = controllers;
  const scheduler = startScheduler(options, {
    ...electionOptions,
    transportFor: (identity) => transportFor(identity, SCHEDULER_AGENT),
    election: { lease: SCHEDULER_LEASE, ...candidate(config, random) },
    random: random.derive("scheduler"),
  });
  if (scheduler !== undefined) starting.use(scheduler);
  if (scheduler !== undefined) late.scheduler = scheduler;
  const awaited = <Part extends ActiveComponent>(component: LeaderElectedComponent<Part>): Promise<Part | undefined> => {
    if (options.fork?.isAwaited !== false) return acting(component, config);
    component.started.catch((error: unknown) => log.error("Cannot start a component of a fork", { error }));
    return Promise.resolve(undefined);
  };
  const [startedControllers, startedScheduler] = [await awaited(controllers), scheduler && (await awaited(scheduler))];
  const first = () => [
    { name: "store", description: describeStore(config) },
    { name: "API server", description: server.door?.url ?? "in this process, without a port" },
    { name: "controllers", description: describeControllers(startedControllers ?? controllers.acting()) },
    ...(scheduler === undefined ? [] : [{ name: "scheduler", description: describeScheduler(startedScheduler ?? scheduler.acting()) }]),
  ];
  const simulated = nodes.names().length === 0 ? [] : [{ name: "nodes", description: `${nodes.names().length} simulated` }];
  const owned = starting.move();
  const dispose = () => owned[Symbol.asyncDispose]();
  return {
    get list() {
      return [...first(), ...(node === undefined ? [] : [{ name: "node", description: node.description }, ...node.parts]), ...simulated];
    },
    onChange: (listener) => node?.onChange?.(listener),
    ...{ store, core, door: server.door, controllers, scheduler, nodes, transportFor },
    [Symbol.asyncDispose]: dispose,
  };
}

function startScheduler(
  { scheduler: configuration }: ClusterPartsOptions,
  options: Omit<Parameters<typeof startLeaderElectedScheduler>[0], "configuration">,
): LeaderElectedScheduler | undefined {
  return configuration === undefined ? undefined : startLeaderElectedScheduler({ ...options, configuration });
}

async function startServer(store: Store, { listens, apiServer }: ClusterPartsOptions, context: StartContext) {
  if (!listens) {
    const server = await startApiServerInProcess(store, apiServer, context);
    return { ...server, door: undefined, certificates: { ...server, authority: server.pki.authority } };
  }
  const server = await startApiServerOn(store, apiServer, context);
  return { ...server, door: server.part, certificates: server.part };
}

function continued(fork: ForkStart | undefined): Pick<NodesContext, "continues"> {
  return fork === undefined ? {} : { continues: fork.isAwaited ? "now" : "meanwhile" };
}

function podsReach(target: AdvertisedAddress | undefined): Pick<NodeContext, "apiServer"> {
  return target === undefined ? {} : { apiServer: { target } };
}

function disposableStore(store: Store): Store & AsyncDisposable {
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** On etcd another instance may become the leader; on an exclusive store it is known immediately. */
async function acting<Part extends ActiveComponent>(
  component: LeaderElectedComponent<Part>,
  { driver }: StoreConfig,
): Promise<Part | undefined> {
  if (driver === "etcd") return undefined;
  return (await Promise.race([component.started, component.otherLeaderObserved])) ?? undefined;
}

/**
 * The only process on its store renews its lease rarely, because no other can acquire it while the server is down; with a constant
 * identity, it acquires it again immediately after a restart. A separate controller manager can be the leader if it was first. On etcd
 * there can be any number.
 */
function candidate({ driver }: StoreConfig, random: Random): Omit<Election, "lease"> {
  if (driver === "etcd") return { identity: `${machineName()}_${newUid(random)}` };
  return { identity: "k8ts-up", leaseDurationMs: 3_600_000, renewDeadlineMs: 2_400_000, retryPeriodMs: 30_000 };
}

/** Undefined: another process is the leader, or it is not known yet. */
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
