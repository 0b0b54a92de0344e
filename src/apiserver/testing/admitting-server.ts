/**
 * The core of an API server with a test's own admission plugins in place of admission/all.ts. It has the pipeline and everything below it;
 * no bootstrap (no namespace is required), no documents, no HTTP.
 */
import { EvaluationTurns } from "../../cel/program/evaluation-turns.ts";
import { all } from "../../api/all.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { schemas } from "../../api/schemas.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { Store } from "../../store/store.ts";
import { memoryStore } from "../../testing/fixtures/memory-store.ts";
import { virtualClock } from "../../testing/virtual-clock.ts";
import { NO_AGGREGATION } from "../framework/apis/aggregation.ts";
import type { AdmissionPlugin } from "../framework/admission.ts";
import { AdmissionCounters } from "../shared/admission/admission-counters.ts";
import { AdmissionChain } from "../write/admission-chain.ts";
import { DEFAULT_API_SERVER_CONFIG, type ApiServerConfig } from "../framework/api-server-config.ts";
import type { Authorizer } from "../framework/authorization.ts";
import { AuthorizationChain } from "../authorization/chain.ts";
import { ServedEndpoints } from "../storage/served-endpoints.ts";
import { CachedObjects } from "../storage/cached-objects.ts";
import { inProcessTransport } from "../pipeline/in-process.ts";
import { RecordedCauses } from "../storage/recorded-causes.ts";
import { leaseLeadership } from "../shared/lease-leadership.ts";
import { MaxInFlight } from "../limits/max-in-flight.ts";
import { RequestMetrics } from "../pipeline/request-metrics.ts";
import { Pipeline } from "../pipeline/pipeline.ts";
import { all as extensionFactories } from "../resources/all.ts";
import type { ServerContext } from "../framework/server-context.ts";
import { Verbs } from "../verbs/verbs.ts";
import { asUser } from "./server.ts";
import { WatchRegistry } from "../watch/watch-registry.ts";
import type { NodeConnector } from "../framework/node-connector.ts";
import { all as resolvers } from "../connections/all.ts";
import { objectWrites } from "../write/object-writes.ts";
import { webhookCalls } from "../webhooks/webhook-calls.ts";

const ADMINISTRATOR = { name: "kubernetes-admin", groups: ["system:masters"] };

export interface AdmittingOptions {
  readonly plugins: readonly AdmissionPlugin[];
  readonly store?: Store;
  readonly config?: Partial<ApiServerConfig>;
  /** Default: the administrator may do everything. */
  readonly authorizer?: Authorizer;
  readonly connector?: NodeConnector;
}

export function admittingServer(options: AdmittingOptions): Transport {
  const server = admittingContext(options);
  const watches = new WatchRegistry(server.clock, { started() {}, ended() {}, event() {} });
  const pipeline = new Pipeline(server, new Verbs(server, watches), {
    metrics: new RequestMetrics(),
    gate: new MaxInFlight({ readOnly: 100, mutating: 100 }),
    checkLeadership: leaseLeadership(server.objects),
  });
  return inProcessTransport(pipeline, { user: ADMINISTRATOR, userAgent: "test/1.0" });
}

/** Shared dependencies. */
export function admittingContext({ plugins, store: given, config, authorizer, connector }: AdmittingOptions): ServerContext {
  const [clock, log, random] = [virtualClock(), silentLogger, seededRandom(1)];
  const store = given ?? memoryStore(clock);
  const endpoints = new ServedEndpoints({ store, clock, log, freezes: true }, schemas);
  for (const resource of all) endpoints.add(resource);
  const objects = new CachedObjects(endpoints);
  const server: ServerContext = {
    aggregation: NO_AGGREGATION,
    store,
    endpoints,
    objects,
    schemas,
    admission: new AdmissionChain(plugins, { metrics: new AdmissionCounters(), clock }),
    identity: { anonymous: false, bootstrapTokens: false, openIdIssuers: [] },
    authenticator: asUser(ADMINISTRATOR),
    authorizer: authorizer ?? new AuthorizationChain([], { objects, clock, log }),
    ...(connector === undefined ? {} : { connector }),
    webhooks: webhookCalls({ objects, random, clock, transport: undefined }),
    causes: new RecordedCauses(clock),
    config: { ...DEFAULT_API_SERVER_CONFIG, ...config },
    evaluations: new EvaluationTurns(),
    clock,
    random,
    log,
    resolvers,
    writes: objectWrites(() => server),
    dynamicApis: [],
    extension: (group, plural) => extensions.find((extension) => extension.group === group && extension.plural === plural),
  };
  const extensions = extensionFactories.map((make) => make(server));
  return server;
}
