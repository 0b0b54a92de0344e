/** Starts the API server on a store: built-in resources, the clock, and the loops that compact the store and expire objects. */
import { resourcesWith } from "../../api/all.ts";
import { parseDescriptions, type Descriptions } from "../../api/descriptions.ts";
import type { Resource } from "../../api/machinery/resource.ts";
import { schemas } from "../../api/schemas.ts";
import { startApiServer, type ApiServer, type ApiServerOptions as CoreOptions } from "../../apiserver/api-server.ts";
import type { Advertised } from "../../apiserver/bootstrap/kubernetes-endpoints.ts";
import type { NodeConnector } from "../../apiserver/framework/node-connector.ts";
import type { Exchange } from "../../apiserver/framework/exchange.ts";
import { networkConnector } from "../../apiserver/http/network-connector.ts";
import { networkWebhookTransport } from "../../apiserver/http/webhook-transport.ts";
import type { WebhookTransport } from "../../apiserver/framework/webhook-caller.ts";
import { remoteConnector } from "../../apiserver/http/remote-connector.ts";
import type { RemoteConnector } from "../../apiserver/framework/apis/aggregation.ts";
import type { Identity } from "../../apiserver/framework/identity.ts";
import type { Clock } from "../../base/clock.ts";
import { Disposables } from "../../base/disposables.ts";
import { useExternal } from "../../base/use-external.ts";
import type { Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import { provideTimeZones } from "../../cel/values/time-zones.ts";
import { realClock } from "../../host/real-clock.ts";
import { realRandom } from "../../host/real-random.ts";
import { machineTimeZone } from "../../host/time-zones.ts";
import { startCompaction } from "../../store/compaction.ts";
import { startExpiry } from "../../store/expiry.ts";
import type { Store } from "../../store/store.ts";
import { startApiServerPart, tokenSignerOf, type ApiServerPart } from "./secure-serving.ts";
import type { ApiServerOptions } from "../../config/api-server-config.ts";
import { readClientAuthorities, readIdentity } from "./identity.ts";
import { KubeletTls } from "./kubelet-tls.ts";
import { readProxyClientFiles } from "../../config/certificate-files.ts";
import { openAuditLog } from "./audit-log.ts";
import { openCauseLog } from "./cause-log.ts";
import { checkApiServerFiles } from "./check-files.ts";
import { ReadWorkers } from "./read-workers.ts";
import { readAdmission } from "./webhook-credentials.ts";
import { openStore } from "../store/open-store.ts";
import { fixedPki } from "../../pki/fixed-pki.ts";
import type { Pki } from "../../pki/pki.ts";
import { serveStore } from "../store/serve-store.ts";
import type { StoreConfig } from "../../config/store-config.ts";

export interface CoreContext {
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StartContext extends CoreContext, Pick<CoreOptions, "moreMetrics" | "moreDocuments" | "causes" | "audit"> {
  /** Connector to nodes, given the one over the network. Default: that one. */
  connector?(network: NodeConnector | undefined): NodeConnector;
  /** Default: the machine's. */
  readonly random?: Random;
  /** Wraps every HTTP exchange. Default: none. */
  aroundExchange?(exchange: Exchange): Exchange;
  /** Default: the cluster's own, kept where the serving configuration says. */
  readonly pki?: Pki;
  /** Address of an API server without HTTPS of its own that is served by its owner. Default: a documentation address. */
  readonly advertised?: Advertised;
}

/** Opens a store and starts an API server on it. The store comes first, so that its problems are reported before anything is created. */
export async function startStoreAndApiServer(
  { store: config, apiServer }: { readonly store: StoreConfig; readonly apiServer: ApiServerOptions },
  context: StartContext,
): Promise<{ readonly part: ApiServerPart; readonly core: ApiServer } & AsyncDisposable> {
  const { clock, log } = context;
  await using starting = new Disposables();
  await clock.external(checkApiServerFiles(apiServer));
  const store = await openStore(config, { clock, log: log.with({ part: "store" }) });
  starting.defer(() => store.close());
  const causes = await clock.external(openCauseLog(config, store, clock));
  if (causes !== undefined) starting.use(causes);
  const { part, core } = starting.use(
    await startApiServerOn(store, apiServer, { ...context, ...(causes === undefined ? {} : { causes }) }),
  );
  if (config.driver === "embedded") starting.use(await clock.external(serveStore(store, config.dataDirectory, { log })));
  const running = starting.move();
  return { part, core, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** An API server with HTTPS, and the loops of its store. The store stays open when it is disposed of. */
export async function startApiServerOn(
  store: Store,
  apiServer: ApiServerOptions,
  { clock, log, connector: connectorOver, ...context }: StartContext,
): Promise<{ readonly part: ApiServerPart; readonly core: ApiServer } & AsyncDisposable> {
  await using starting = new Disposables();
  startStoreLoops(store, { clock, log }, starting);
  let core: ApiServer | undefined;
  const kubeletTls = await clock.external(KubeletTls.open(apiServer.kubelets));
  const network = networkConnector({ kubeletTls: () => kubeletTls.show(part.pki) });
  const connector = connectorOver?.(network) ?? network;
  const { proxyClientFiles } = apiServer;
  const proxyClient = proxyClientFiles === undefined ? undefined : await clock.external(readProxyClientFiles(proxyClientFiles));
  const remote = remoteConnector({ proxyCertificate: () => proxyClient ?? part.pki.pair("front-proxy-client") });
  const admission = await clock.external(readAdmission(apiServer));
  const webhookTransport = starting.use(networkWebhookTransport({ clock, credentials: admission.credentials }));
  const { auditLog } = apiServer;
  const audit =
    auditLog === undefined ? undefined : useExternal(starting, clock, await clock.external(openAuditLog(auditLog, { clock, log })));
  const { readWorkers } = apiServer;
  const workers = readWorkers === undefined ? undefined : new ReadWorkers();
  let exchange: Exchange | undefined;
  const part = await startApiServerPart(apiServer, {
    ...{ ...context, clock, log: log.with({ part: "apiserver" }) },
    ...(workers === undefined ? {} : { bind: (place) => workers.bind(place) }),
    startCore: async (given) => {
      core = await startCore(store, {
        ...context,
        ...given,
        api: admission.api,
        connector,
        remoteConnector: remote,
        webhookTransport,
        ...(audit === undefined ? {} : { audit }),
        clock,
        log,
      });
      exchange = context.aroundExchange?.(core.exchange) ?? core.exchange;
      return { ...core, exchange };
    },
  });
  starting.defer(() => part.close());
  if (workers !== undefined && readWorkers !== undefined) {
    starting.use(workers);
    await clock.external(workers.start({ ...apiServer, readWorkers }, { store, exchange: exchange as Exchange, clock, log }));
  }
  const running = starting.move();
  return { part, core: core as ApiServer, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/**
 * The same without HTTPS and files. Clients are in this process, so certificates and keys are fixed, publicly known ones, which cost no
 * time and are deterministic.
 */
export async function startApiServerInProcess(
  store: Store,
  { eventTtlMs, identity: config, ...apiServer }: Omit<ApiServerOptions, "serving" | "kubelets">,
  { clock, log, connector: connectorOver, ...context }: StartContext,
): Promise<{ readonly pki: Pki; readonly core: ApiServer } & Pick<ApiServerPart, "tokenSigner"> & AsyncDisposable> {
  await using starting = new Disposables();
  startStoreLoops(store, { clock, log }, starting);
  const pki = context.pki ?? fixedPki();
  const clientAuthorities = await clock.external(readClientAuthorities(config, pki));
  const identity = await clock.external(readIdentity(config, { pki, clientAuthorities, serverAuthority: pki.authority, log }));
  const connector = connectorOver?.(undefined);
  const admission = await clock.external(readAdmission(apiServer));
  const webhookTransport = starting.use(networkWebhookTransport({ clock, credentials: admission.credentials }));
  const core = await startCore(store, {
    ...context,
    ...(connector === undefined ? {} : { connector }),
    webhookTransport,
    api: admission.api,
    eventTtlMs,
    identity,
    clock,
    log,
  });
  starting.defer(() => core.close());
  await core.advertise(context.advertised ?? NOWHERE);
  const running = starting.move();
  return { pki, core, ...tokenSignerOf(identity), [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** Endpoint of the Service "kubernetes" without HTTPS: a documentation address, so that the objects exist. */
const NOWHERE = { address: "192.0.2.1", port: 6443 };

interface CoreSettings extends Omit<ApiServerOptions, "serving" | "identity" | "kubelets" | "auditLog">, Omit<StartContext, "connector"> {
  readonly identity: Identity;
  readonly connector?: NodeConnector;
  readonly webhookTransport: WebhookTransport;
  readonly remoteConnector?: RemoteConnector;
}

/** The API server on an open store. */
export function startCore(
  store: Store,
  { api, eventTtlMs, clock, log, random = realRandom(), ...settings }: CoreSettings,
): Promise<ApiServer> {
  const { identity, moreMetrics, moreDocuments, causes, audit, connector, webhookTransport, remoteConnector: remote } = settings;
  // Expressions name time zones: timestamp.getHours("Europe/Berlin").
  provideTimeZones(machineTimeZone);
  return startApiServer({
    store,
    resources: resourcesWith(api.featureGates).map((resource) => withTimeToLive(resource, eventTtlMs)),
    schemas,
    clock,
    random,
    log: log.with({ part: "apiserver" }),
    identity,
    loadDescriptions: () => clock.external(loadDescriptions()),
    ...(moreMetrics === undefined ? {} : { moreMetrics }),
    ...(moreDocuments === undefined ? {} : { moreDocuments }),
    ...(causes === undefined ? {} : { causes }),
    ...(audit === undefined ? {} : { audit }),
    ...(connector === undefined ? {} : { connector }),
    webhookTransport,
    ...(remote === undefined ? {} : { remoteConnector: remote }),
    yieldsToEventLoop: clock === realClock,
    config: api,
  });
}

/** Event TTL (--event-ttl). */
function withTimeToLive(resource: Resource, eventTtlMs: number): Resource {
  return resource.secondsToLive === undefined ? resource : { ...resource, secondsToLive: eventTtlMs / 1_000 };
}

async function loadDescriptions(): Promise<Descriptions> {
  const { descriptionData } = await import("../../api/generated/descriptions.ts");
  return parseDescriptions(descriptionData);
}

function startStoreLoops(store: Store, context: CoreContext, owner: Disposables): void {
  for (const start of [startExpiry, startCompaction]) {
    const loop = start(store, context);
    owner.defer(() => loop.stop());
  }
}
