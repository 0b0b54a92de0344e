/**
 * A cluster inside a page: the real API server on the memory store, controllers, scheduler and kubelets with simulated Pods, under virtual
 * time. Composed of pure rooms: time and randomness are arguments, and the bundle for browsers (tools/setup/browser-bundle.mjs) fails if
 * anything here reaches a module of Node. Not here: who lets time pass (pace.ts), and pages.
 */
import { ADMINISTRATOR } from "../../api/identities.ts";
import { all as builtInResources } from "../../api/all.ts";
import { parseDescriptions, type Descriptions } from "../../api/descriptions.ts";
import { schemas } from "../../api/schemas.ts";
import { startApiServer } from "../../apiserver/api-server.ts";
import type { Exchange } from "../../apiserver/framework/exchange.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger, type Logger } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { decisionsDocument } from "../../components/api-server/decisions-document.ts";
import { readDecisions } from "../../components/pages/decisions-page.ts";
import { nodesConnector } from "../../components/simulated-nodes/nodes-connector.ts";
import { startNodesPart, type ClusterNodes, type NodesConfig, type NodesPart } from "../../components/simulated-nodes/simulated-nodes.ts";
import type { ClusterConnection } from "../../dashboard/data/connection.ts";
import { exchangeConnection } from "../../dashboard/data/exchange-connection.ts";
import { driverOf, type Driver } from "../../embedded/driver.ts";
import { drivenTransport } from "../../embedded/in-process-transports.ts";
import { createStandardClass } from "../../localpath/standard-class.ts";
import { startCompaction } from "../../store/compaction.ts";
import { startExpiry } from "../../store/expiry.ts";
import { openMemoryStore } from "../../store/memory/memory-store.ts";
import type { Entry } from "../../store/store.ts";
import { ControlPlaneComponents, type Components } from "./components.ts";
import { PAGE_TOKEN, tabIdentity } from "./tab-identity.ts";

export interface TabClusterOptions {
  readonly clock: VirtualClock;
  readonly random: Random;
  /** Default: three nodes in the zones a, b and c. */
  readonly nodes?: NodesConfig;
  /** Objects of another cluster that it starts with, ordered by key. Default: none. */
  readonly from?: { readonly entries: AsyncIterable<Entry>; readonly revision: number };
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

export interface TabCluster extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly driver: Driver;
  /** Requests of pages, as the administrator; they need no time to pass. */
  readonly connection: ClusterConnection;
  /** Client of the administrator; its requests need no time to pass. */
  readonly client: Client;
  readonly nodes: ClusterNodes;
  readonly components: Components;
}

const DEFAULT_NODES: NodesConfig = { count: 3, zones: ["a", "b", "c"], capacity: { cpu: "4", memory: "8Gi", pods: "30" } };

/** Endpoint of the Service "kubernetes": a documentation address, so that the objects exist. */
const NOWHERE = { address: "192.0.2.1", port: 6443 };

/** Virtual time that stopping may take. */
const STOPPING_MAX_MS = 60_000;

export async function startTabCluster(options: TabClusterOptions): Promise<TabCluster> {
  const driver = driverOf(options.clock) as Driver;
  const { owned, ...parts } = await driver.through(startParts(options, driver));
  // What begins with the start is over when it has resolved.
  await driver.settle();
  return {
    clock: options.clock,
    driver,
    ...parts,
    [Symbol.asyncDispose]: () => driver.toTheEnd(owned[Symbol.asyncDispose](), STOPPING_MAX_MS),
  };
}

async function startParts(options: TabClusterOptions, driver: Driver) {
  const { clock, random, nodes: nodesConfig = DEFAULT_NODES, log = silentLogger } = options;
  await using starting = new Disposables();
  const store = openMemoryStore({ clock });
  starting.defer(() => store.close());
  if (options.from !== undefined) await store.restore(options.from.entries, options.from.revision);
  for (const start of [startExpiry, startCompaction]) {
    const loop = start(store, { clock, log });
    starting.defer(() => loop.stop());
  }
  const { identity, controllers: settings } = tabIdentity();
  // Assigned later: they start after the server that connects to them.
  const late: { nodes?: NodesPart; components?: ControlPlaneComponents } = {};
  const core = await startApiServer({
    ...{ store, schemas, clock, identity },
    resources: builtInResources,
    random: random.derive("apiserver"),
    log: log.with({ part: "apiserver" }),
    loadDescriptions: () => clock.external(loadDescriptions()),
    moreDocuments: [
      decisionsDocument({ read: (query) => readDecisions(query, late.components?.scheduler()), elsewhere: "No scheduler is running" }),
    ],
    connector: nodesConnector(() => late.nodes, { clock }),
  });
  starting.defer(() => core.close());
  await core.advertise(NOWHERE);
  const transportFor: ConstructorParameters<typeof ControlPlaneComponents>[0]["transportFor"] = (user, userAgent) =>
    core.transport({ user, userAgent });
  const administrator = transportFor(ADMINISTRATOR, "k8ts");
  const nodes = starting.use(await startNodesPart(nodesConfig, { transportFor, clock, random: random.derive("nodes"), log }));
  late.nodes = nodes;
  const components = starting.use(new ControlPlaneComponents({ transportFor, settings, clock, random: random.derive("components"), log }));
  late.components = components;
  await components.startAll();
  await createStandardClass(createClient(administrator));
  const exchange: Exchange = (request, offer, switching) => driver.whenever(core.exchange(request, offer, switching));
  return {
    owned: starting.move(),
    connection: exchangeConnection({ exchange, headers: { authorization: `Bearer ${PAGE_TOKEN}`, "user-agent": "k8ts-page" } }),
    client: createClient(drivenTransport(administrator, driver)),
    nodes: drivenNodes(nodes, driver),
    components: drivenComponents(components, driver),
  };
}

function drivenNodes(nodes: NodesPart, driver: Driver): ClusterNodes {
  return {
    names: () => nodes.names(),
    isRunning: (name) => nodes.isRunning(name),
    isPoweredOff: (name) => nodes.isPoweredOff(name),
    add: (name) => driver.whenever(nodes.add(name)),
    stop: (name) => driver.whenever(nodes.stop(name)),
    powerOff: (name) => driver.whenever(nodes.powerOff(name)),
    start: (name) => driver.whenever(nodes.start(name)),
    remove: (name) => driver.whenever(nodes.remove(name)),
  };
}

function drivenComponents(components: Components, driver: Driver): Components {
  return {
    list: () => components.list(),
    add: (kind) => driver.whenever(components.add(kind)),
    stop: (name) => driver.whenever(components.stop(name)),
    crash: (name) => driver.whenever(components.crash(name)),
    start: (name) => driver.whenever(components.start(name)),
  };
}

async function loadDescriptions(): Promise<Descriptions> {
  const { descriptionData } = await preloadDescriptions();
  return parseDescriptions(descriptionData);
}

/** The texts of OpenAPI, a part of the bundle of its own: loads it before it is needed. */
export function preloadDescriptions() {
  return import("../../api/generated/descriptions.ts");
}
