/**
 * A cluster for testing a controller: the real API server over a store in memory, under virtual time, from a seed, with the test's objects
 * in it. `reconcile` runs one reconciliation and records what the controller did, one line per write. The controller may do only what its
 * `rules` allow, as in a real cluster.
 */
import { all } from "../api/all.ts";
import { controllerIdentity } from "../api/identities.ts";
import type { JsonObject, KubeObject } from "../api/machinery/object.ts";
import { parseApiVersion } from "../api/machinery/object.ts";
import { startServer, type StartedServer } from "../apiserver/testing/server.ts";
import type { ApiServerConfig } from "../apiserver/framework/api-server-config.ts";
import type { NodeConnector } from "../apiserver/framework/node-connector.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger } from "../base/logger.ts";
import { MetricSet } from "../base/metrics/metric-set.ts";
import { seededRandom } from "../base/random.ts";
import type { VirtualClock } from "../base/virtual-clock.ts";
import type { Client, ResourceKind } from "../client/client.ts";
import type { EventRecorder } from "../client/events/event-recorder.ts";
import type { Informers } from "../client/informer/informer.ts";
import { createInformers } from "../client/informer/informers.ts";
import { ownWrites } from "../client/informer/own-writes.ts";
import { readerOf } from "../client/informer/reader.ts";
import { createClient } from "../client/rest-client.ts";
import type { Controller, Outcome, Reconcile, WorkKey } from "../controllers/runtime/controller.ts";
import { EveryKind } from "../controllers/runtime/all-kinds.ts";
import { parseKey } from "../controllers/runtime/keys.ts";
import { runControllers, type RunningControllers } from "../controllers/runtime/run-controllers.ts";
import { linesOf } from "./action-lines.ts";
import { driven } from "./driven.ts";
import { withinRules } from "./within-rules.ts";

export interface Given extends AsyncDisposable {
  /** Writes of controllers so far, one line each: `create pods default/web-*`, `status replicasets default/web {"replicas":1}`. */
  readonly actions: string[];
  /** Events of controllers so far: `Normal SuccessfulCreate ReplicaSet/web Created pod: web-1`. */
  readonly events: string[];
  /** Metrics of the controllers that `reconcile` was called with. */
  readonly metrics: MetricSet;
  readonly clock: VirtualClock;
  /** A cluster administrator's client: for changes by a user, and to inspect the result. */
  readonly client: Client;
  readonly server: StartedServer;
  /** Reconciles one key ("default/web", "node-1") once the caches are synced. Rejects if the reconciliation does. */
  reconcile(controller: Controller, key: string | WorkKey): Promise<Outcome>;
  /** Starts controllers, which run until the cluster is disposed of or the result is stopped. */
  run(...controllers: readonly Controller[]): Promise<RunningControllers>;
  /** Resolves when nothing is left to do without time passing. */
  settled(): Promise<void>;
  /** Lists the current objects of a kind. */
  list<T extends KubeObject>(kind: ResourceKind<T>, namespace?: string): Promise<readonly T[]>;
}

export interface GivenOptions {
  readonly config?: Partial<ApiServerConfig>;
  /** Connections of the API server to nodes and Pods. */
  readonly connector?: NodeConnector;
}

/**
 * Creates the objects in the given order, with their status if they have one; namespaces other than the built-in ones must be among them.
 */
export async function given(...objects: readonly object[]): Promise<Given> {
  return givenWith({}, ...objects);
}

export async function givenWith({ config = {}, connector }: GivenOptions, ...objects: readonly object[]): Promise<Given> {
  await using starting = new Disposables();
  const settings = { config: { authorizationModes: ["AlwaysAllow"], ...config } };
  const server = starting.use(await startServer(connector === undefined ? settings : { ...settings, connector }));
  const { clock } = server;
  const client = createClient(server.transport());
  for (const object of objects) await createObject(client, object);
  const random = seededRandom(2);
  const informers = createInformers({ transport: server.transport(), clock, random, log: silentLogger });
  starting.use(informers);
  const actions: string[] = [];
  const events: string[] = [];
  const metrics = new MetricSet();
  const context = { server, clock, random, informers, client, actions, events };
  const passes = new Map<Controller, Promise<Reconcile>>();
  const owned = starting.move();
  return {
    actions,
    events,
    metrics,
    clock,
    client,
    server,
    async reconcile(controller, key) {
      const started = passes.get(controller) ?? prepared(controller, context, owned);
      passes.set(controller, started);
      const reconcile = await driven(clock, started);
      const write = ownWrites(clientFor(controller, context), informers);
      const { signal } = new AbortController();
      const pass = {
        read: readerOf(informers),
        write,
        events: recorder(events),
        clock,
        random,
        log: silentLogger,
        metrics,
        signal,
        wake() {},
      };
      return driven(clock, reconcile(typeof key === "string" ? parseKey(key) : key, pass));
    },
    async run(...controllers) {
      const running = runControllers({
        controllers,
        informers,
        client,
        clientFor: (controller) => clientFor(controller, context),
        recorderFor: () => recorder(events),
        clock,
        random,
        log: silentLogger,
      });
      return owned.use(await driven(clock, running));
    },
    settled: () => clock.settle(),
    list: async (kind, namespace) => (await client.list(kind, namespace === undefined ? {} : { namespace })).items,
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

interface GivenContext {
  readonly server: StartedServer;
  readonly clock: VirtualClock;
  readonly random: ReturnType<typeof seededRandom>;
  readonly informers: Informers;
  readonly client: Client;
  readonly actions: string[];
  readonly events: string[];
}

/** Returns the controller's reconcile function once its caches are synced. */
async function prepared(controller: Controller, context: GivenContext, owner: Disposables): Promise<Reconcile> {
  const { informers, clock, random, client } = context;
  const everyKind = new EveryKind({ client, informers, clock, random, log: silentLogger });
  owner.defer(() => everyKind.close());
  for (const watch of controller.watches) {
    if ("everyKind" in watch) await everyKind.start();
    const kinds = "everyKind" in watch ? everyKind.followed : [watch.kind];
    await Promise.all(kinds.map((kind) => informers.of(kind).synced()));
  }
  const wake = (): void => {};
  return controller.start({ clock, random, log: silentLogger, read: readerOf(informers), kinds: () => everyKind.deletable, wake });
}

function clientFor(controller: Controller, { server, actions }: GivenContext): Client {
  const user = controllerIdentity(controller.account);
  const transport = server.server.transport({ user, userAgent: "kube-controller-manager" });
  return createClient(linesOf(withinRules(transport, controller), actions));
}

/** Discards events. */
export const silentRecorder: EventRecorder = {
  record() {},
  flushed: () => Promise.resolve(),
  dropped: 0,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

function recorder(lines: string[]): EventRecorder {
  return {
    ...silentRecorder,
    record({ kind, metadata }, { type, reason, message }) {
      lines.push(`${type} ${reason} ${kind}/${metadata.name} ${message}`);
    },
  };
}

/** Creates an object with its status, which a create request ignores. */
export async function createObject(client: Client, object: object): Promise<void> {
  const kind = kindOf(object as KubeObject);
  const made = await client.create(kind, object as KubeObject);
  const { status } = object as { readonly status?: JsonObject };
  if (status === undefined || !Object.hasOwn(kind.subresources, "status")) return;
  await client.updateStatus(kind, { ...made, status } as KubeObject);
}

function kindOf({ apiVersion, kind }: KubeObject): (typeof all)[number] {
  const version = parseApiVersion(apiVersion);
  const found = all.find(({ kind: name, served }) => name === kind && served.some(({ group }) => group === version?.group));
  if (found === undefined) throw new Error(`No built-in kind ${kind} in ${apiVersion}`);
  return found;
}
