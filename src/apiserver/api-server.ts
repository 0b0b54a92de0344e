/**
 * The API server's core: everything between an HTTP exchange or an in-process call and the store. Pure: the store, the clock, randomness
 * and the log are arguments, so it runs under virtual time and from a seed as well as behind HTTPS (apiserver/http).
 */
import { EvaluationTurns } from "../cel/program/evaluation-turns.ts";
import type { Clock } from "../base/clock.ts";
import type { Logger } from "../base/logger.ts";
import type { Random } from "../base/random.ts";
import type { Descriptions } from "../api/descriptions.ts";
import type { Resource } from "../api/machinery/resource.ts";
import type { SchemaSet } from "../api/machinery/schema.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Store } from "../store/store.ts";
import type { AdmissionPluginFactory } from "./framework/admission.ts";
import { AdmissionChain } from "./write/admission-chain.ts";
import { all as admissionPlugins } from "./admission/all.ts";
import type { AdmissionConfig } from "./framework/admission-config.ts";
import { DEFAULT_API_SERVER_CONFIG, type ApiServerConfig } from "./framework/api-server-config.ts";
import type { AuthenticationContext, Authenticator } from "./framework/authentication.ts";
import { AuthenticationChain, withAuthenticatedGroup } from "./authentication/chain.ts";
import { AuthorizationChain } from "./authorization/chain.ts";
import { all as bootstrapSteps } from "./bootstrap/all.ts";
import { bootstrap } from "./bootstrap/bootstrap.ts";
import { RecordedCauses, type RecordedCausesOptions } from "./storage/recorded-causes.ts";
import { clusterInfo } from "./bootstrap/cluster-info.ts";
import { metricsApis } from "./custom-metrics/metrics-apis.ts";
import type { Advertised } from "./bootstrap/kubernetes-endpoints.ts";
import { BootstrapReconciler } from "./bootstrap/bootstrap-reconciler.ts";
import { AdvertisedServer } from "./bootstrap/kubernetes-service.ts";
import { CustomResources } from "./customresources/custom-resources.ts";
import { all as documentFactories } from "./documents/all.ts";
import type { Document, MetricFamilies, Readiness } from "./framework/document.ts";
import type { DynamicApi } from "./framework/apis/dynamic-api.ts";
import type { Endpoints } from "./framework/endpoints.ts";
import { ServedEndpoints } from "./storage/served-endpoints.ts";
import type { Exchange, ExchangeRequest } from "./framework/exchange.ts";
import type { User } from "./framework/request.ts";
import type { Identity } from "./framework/identity.ts";
import { FlowControl } from "./fairness/flow-control.ts";
import { MaxInFlight } from "./limits/max-in-flight.ts";
import { inProcessTransport, type InProcessOptions } from "./pipeline/in-process.ts";
import { LargeBodies } from "./limits/large-bodies.ts";
import type { Metrics } from "./framework/metrics.ts";
import { RequestMetrics } from "./pipeline/request-metrics.ts";
import { StoreMetrics } from "./storage/store-metrics.ts";
import { CachedObjects } from "./storage/cached-objects.ts";
import { Pipeline } from "./pipeline/pipeline.ts";
import { AGGREGATION_HOOKS, CUSTOM_RESOURCE_HOOKS, FAIRNESS_HOOKS, PostStartHooks } from "./bootstrap/post-start-hooks.ts";
import { all as extensionFactories } from "./resources/all.ts";
import type { ResourceExtension } from "./framework/extension.ts";
import { documentReader } from "./rest/document-reader.ts";
import { Deadlines } from "./rest/deadlines.ts";
import { WaitingBytes } from "./rest/waiting-bytes.ts";
import { restExchange } from "./rest/rest-exchange.ts";
import { storedAccess } from "./rest/stored-access.ts";
import type { ServerContext } from "./framework/server-context.ts";
import { leaseLeadership } from "./shared/lease-leadership.ts";
import { storeAnswers } from "./shared/store-health.ts";
import { Verbs } from "./verbs/verbs.ts";
import { WatchRegistry } from "./watch/watch-registry.ts";
import type { RemoteConnector } from "./framework/apis/aggregation.ts";
import { Aggregator } from "./aggregation/aggregator.ts";
import { routedTransport } from "./aggregation/routed-transport.ts";
import type { NodeConnector } from "./framework/node-connector.ts";
import type { WebhookTransport } from "./framework/webhook-caller.ts";
import { fairnessReport } from "./fairness/report.ts";
import { PipelineRequests } from "./pipeline/own-requests.ts";
import { impersonated } from "./authentication/impersonation.ts";
import { all as resolvers } from "./connections/all.ts";
import { objectWrites } from "./write/object-writes.ts";
import { Auditor, type AuditorOptions } from "./shared/audit/auditor.ts";
import { AdmissionCounters } from "./shared/admission/admission-counters.ts";
import type { AdmissionMetrics } from "./framework/admission/admission-metrics.ts";
import { webhookCalls } from "./webhooks/webhook-calls.ts";
import type { OwnRequests } from "./framework/own-requests.ts";

export interface ApiServerOptions {
  readonly store: Store;
  readonly resources: readonly Resource[];
  readonly schemas: SchemaSet;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly identity: Identity;
  /** Authentication for tests. */
  readonly authenticator?: Authenticator;
  /** Connections to the nodes. */
  readonly connector?: NodeConnector;
  /** Connections to webhooks. Default: none, and every call of a webhook fails. */
  readonly webhookTransport?: WebhookTransport;
  /** Connections to aggregated API servers. Absent: they are unavailable. */
  readonly remoteConnector?: RemoteConnector;
  readonly loadDescriptions: () => Promise<Descriptions>;
  /** Metrics of other components in this process, collected whenever /metrics is read. */
  readonly moreMetrics?: () => MetricFamilies;
  /** Documents about other components of this process, served after the server's own. */
  readonly moreDocuments?: readonly Document[];
  /** Where causes are kept across a restart. Absent: in memory only. */
  readonly causes?: RecordedCausesOptions;
  /** The audit log. Absent: nothing is audited. */
  readonly audit?: Omit<AuditorOptions, "clock">;
  /** Large requests yield the event loop between slices of work. Not under virtual time, where only the clock's owner advances anything. */
  readonly yieldsToEventLoop?: boolean;
  readonly config?: Partial<ApiServerConfig>;
}

export interface ApiServer {
  /** For the HTTP server. */
  readonly exchange: Exchange;
  /** Whether a request only reads or writes stored objects. Any server of the same store can answer those that read. */
  storedAccess(request: ExchangeRequest): "read" | "write" | undefined;
  /** The served endpoints; resources can be added and removed. */
  readonly endpoints: Endpoints;
  /** For components of this process. */
  transport(options: InProcessOptions): Transport;
  /** Adds this server to the endpoints of the Service "kubernetes" until it is closed. */
  advertise(self: Advertised): Promise<void>;
  /** Ends the watches and releases the store, which stays open. A second call does nothing. */
  close(): Promise<void>;
}

export async function startApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const parts = partsOf(options);
  const { server, own, pipeline, audit, documents, deadlines, metrics, endpoints, aggregation, state } = parts;
  const { clock, config } = server;
  const builtIns = new BootstrapReconciler(own);
  try {
    await startParts(parts, builtIns);
  } catch (error) {
    // A server that failed to start must leave nothing running in the process.
    builtIns.close();
    parts.close();
    throw error;
  }
  let advertised: AdvertisedServer | undefined;
  const rest = {
    server,
    pipeline,
    audit,
    documents,
    deadlines,
    waitingBytes: new WaitingBytes(),
    largeBodies: new LargeBodies(clock, metrics, { rests: options.yieldsToEventLoop ?? false }),
    impersonate: (request: ExchangeRequest, user: User) => impersonated(server.authorizer, request, user),
  };
  const readDocument = documentReader(rest);
  const routes = { endpoints, aggregation, documents };
  return {
    exchange: restExchange(rest),
    storedAccess: (request) => storedAccess(routes, request),
    endpoints,
    transport({ user: given, userAgent }) {
      const user = withAuthenticatedGroup(given);
      const local = inProcessTransport(pipeline, { user, userAgent }, readDocument);
      const timeoutMs = config.requestTimeoutMs;
      return routedTransport(local, { aggregation, authorizer: server.authorizer, clock, user, userAgent, timeoutMs });
    },
    async advertise(self) {
      advertised = new AdvertisedServer(own, self);
      await advertised.start();
      await builtIns.keep(advertised.step);
      const info = clusterInfo(self);
      await info.make(own);
      await builtIns.keep(info);
    },
    async close() {
      state.isStopping = true;
      builtIns.close();
      await advertised?.stop();
      parts.close();
    },
  };
}

/** Creates the parts of the server; nothing runs yet. */
function partsOf(options: ApiServerOptions) {
  const metrics = new RequestMetrics();
  // Authentication is created before the pipeline that the server's own writes pass, and uses it later.
  const late: { requests?: OwnRequests } = {};
  const storeMetrics = new StoreMetrics(options.clock);
  const admissionMetrics = new AdmissionCounters();
  const timed = { ...options, store: storeMetrics.timed(options.store) };
  const { server, authorizer, endpoints, aggregation } = contextOf(timed, late, admissionMetrics);
  const { clock, config, causes } = server;
  const flowControl = config.priorityAndFairness ? new FlowControl(server) : undefined;
  const gate = flowControl ?? new MaxInFlight({ readOnly: config.maxRequestsInFlight, mutating: config.maxMutatingRequestsInFlight });
  const watches = countedWatches(clock, metrics, flowControl);
  const checkLeadership = leaseLeadership(server.objects);
  const audit = options.audit === undefined ? undefined : new Auditor({ ...options.audit, clock });
  const pipeline = new Pipeline(server, new Verbs(server, watches), { metrics, gate, checkLeadership, audit });
  const deadlines = new Deadlines(clock, config.requestTimeoutMs);
  const hooks = new PostStartHooks({ without: flowControl === undefined ? FAIRNESS_HOOKS : [] });
  const state = { hooks, isStopping: false };
  const { loadDescriptions, moreMetrics = () => [], moreDocuments = [] } = options;
  const allMetrics = (): MetricFamilies => [
    storeMetrics.family(endpoints),
    ...admissionMetrics.families(),
    ...aggregation.metricFamilies(),
    ...customResources.metricFamilies(),
    ...(audit?.metricFamilies() ?? []),
    ...moreMetrics(),
  ];
  const fairness = flowControl === undefined ? undefined : fairnessReport(flowControl.fairness, clock);
  const readiness = () => readinessOf(server, state);
  const listedPaths = () => pathsOf(documents);
  const dependencies = { server, endpoints, metrics, causes, fairness, readiness, listedPaths, loadDescriptions, moreMetrics: allMetrics };
  const documents: readonly Document[] = [...documentFactories.map((make) => make(dependencies)), ...moreDocuments];
  const own = { server, requests: new PipelineRequests(pipeline) };
  late.requests = own.requests;
  const customResources = new CustomResources(own);
  const close = () => [customResources, gate, watches, deadlines, aggregation, endpoints].forEach((part) => part.close());
  const running = { server, own, authorizer, endpoints, aggregation, customResources, flowControl };
  return { ...running, pipeline, audit, documents, deadlines, metrics, hooks, state, close };
}

/** Starts the parts in the order of their dependencies; readiness waits for all of them. */
async function startParts(parts: ReturnType<typeof partsOf>, builtIns: BootstrapReconciler): Promise<void> {
  const { server, own, authorizer, aggregation, customResources, flowControl, hooks } = parts;
  await bootstrap(own, bootstrapSteps, hooks);
  hooks.finished("storage-readiness");
  await customResources.start();
  CUSTOM_RESOURCE_HOOKS.forEach((hook) => hooks.finished(hook));
  await authorizer.start();
  hooks.finished("generic-apiserver-start-informers");
  await server.admission.start();
  hooks.finished("start-apiserver-admission-initializer");
  await flowControl?.start(own.requests);
  FAIRNESS_HOOKS.forEach((hook) => hooks.finished(hook));
  for (const step of bootstrapSteps) await builtIns.keep(step);
  await aggregation.start(own.requests);
  AGGREGATION_HOOKS.forEach((hook) => hooks.finished(hook));
}

/** Watches are counted by metrics, and by Priority and Fairness: the more watches receive a write, the more it costs. */
function countedWatches(clock: Clock, metrics: Metrics, flowControl: FlowControl | undefined): WatchRegistry {
  return new WatchRegistry(clock, {
    started: (endpoint, request) => {
      metrics.watchStarted(endpoint);
      flowControl?.watches.started(request);
    },
    ended: (endpoint, request) => {
      metrics.watchEnded(endpoint);
      flowControl?.watches.ended(request);
    },
    event: (endpoint) => metrics.watchEvent(endpoint),
  });
}

function contextOf(
  options: ApiServerOptions,
  late: { readonly requests?: OwnRequests },
  metrics: AdmissionMetrics,
): {
  readonly server: ServerContext;
  readonly authorizer: AuthorizationChain;
  readonly endpoints: ServedEndpoints;
  readonly aggregation: Aggregator;
} {
  const { store, schemas, clock, random, log, identity, connector, webhookTransport: transport } = options;
  const config = { ...DEFAULT_API_SERVER_CONFIG, ...options.config };
  const endpoints = new ServedEndpoints({ store, clock, log, freezes: config.freezeObjects }, schemas);
  const objects = new CachedObjects(endpoints);
  const evaluations = new EvaluationTurns(options.yieldsToEventLoop === true ? (work) => clock.soon(work) : undefined);
  const label: AuthenticationContext["label"] = async ({ group, plural }, { namespace, name }, labels) => {
    const version = endpoints.stored(group, plural)?.served.version ?? "";
    const cause = { key: `${namespace}/${name}`, reason: "TokenUsed" };
    await late.requests?.because(cause).label({ group, version, plural, namespace }, name, labels);
  };
  const authenticator = options.authenticator ?? new AuthenticationChain({ identity, objects, evaluations, clock, log, label });
  const authorizer = new AuthorizationChain(config.authorizationModes, { objects, clock, log });
  const causes = new RecordedCauses(clock, options.causes);
  const webhooks = webhookCalls({ objects, random, clock, transport });
  const aggregation = new Aggregator({ endpoints, objects, clock, random, log }, options.remoteConnector);
  const admissionContext = {
    endpoints,
    objects,
    authorizer,
    webhooks,
    metrics,
    config: config.admission,
    store,
    causes,
    evaluations,
    clock,
    random,
    log,
  };
  const extensions = new Map<string, ResourceExtension>();
  const dynamicApis: DynamicApi[] = [];
  const server: ServerContext = {
    store,
    endpoints,
    schemas,
    objects,
    admission: new AdmissionChain(
      chosenPlugins(config.admission).map((make) => make(admissionContext)),
      { metrics, clock },
    ),
    aggregation,
    identity,
    authenticator,
    authorizer,
    ...(connector === undefined ? {} : { connector }),
    webhooks,
    causes,
    config,
    evaluations,
    clock,
    random,
    log,
    resolvers,
    writes: objectWrites(() => server),
    dynamicApis,
    extension: (group, plural) => extensions.get(`${group}/${plural}`),
  };
  for (const make of extensionFactories) {
    const extension = make(server);
    extensions.set(`${extension.group}/${extension.plural}`, extension);
  }
  dynamicApis.push(...metricsApis(server));
  for (const resource of options.resources) endpoints.add(resource);
  return { server, authorizer, endpoints, aggregation };
}

function chosenPlugins({ enabledPlugins, disabledPlugins }: AdmissionConfig): readonly AdmissionPluginFactory[] {
  return Object.entries(admissionPlugins)
    .filter(([name, { byDefault }]) => (byDefault || enabledPlugins.includes(name)) && !disabledPlugins.includes(name))
    .map(([, { make }]) => make);
}

async function pathsOf(documents: readonly Document[]): Promise<readonly string[]> {
  const paths: string[] = [];
  for (const document of documents) paths.push(...((await document.listedPaths?.()) ?? []));
  return paths;
}

interface ServerState {
  readonly hooks: PostStartHooks;
  readonly isStopping: boolean;
}

async function readinessOf({ store, clock }: ServerContext, { hooks, isStopping }: ServerState): Promise<Readiness> {
  const answers = await storeAnswers(store, clock);
  // Upstream's name of the storage check.
  const etcd = { ok: answers, reason: "the store does not respond" };
  const checks = [
    { name: "ping", ok: true },
    { name: "log", ok: true },
    { name: "etcd", ...etcd },
    { name: "etcd-readiness", ...etcd },
    // Authorization and admission decide by objects in memory.
    { name: "informer-sync", ok: hooks.isFinished("generic-apiserver-start-informers"), reason: "informers not started yet" },
    ...hooks.checks(),
    { name: "shutdown", ok: !isStopping, reason: "process is shutting down" },
  ];
  return { isReady: checks.every(({ ok }) => ok), checks };
}
