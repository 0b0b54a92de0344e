/** For tests of the runtime itself: running controllers, their logs, and connections that can be delayed. */
import { configMaps } from "../../../api/core/v1/config-map.ts";
import { controllerIdentity } from "../../../api/identities.ts";
import type { Cause } from "../../../api/machinery/cause.ts";
import type { JsonObject } from "../../../api/machinery/object.ts";
import type { Transport, TransportRequest } from "../../../api/machinery/transport.ts";
import { Disposables } from "../../../base/disposables.ts";
import { createLogger, type LogLine } from "../../../base/logger.ts";
import { seededRandom } from "../../../base/random.ts";
import { createInformers } from "../../../client/informer/informers.ts";
import { createClient } from "../../../client/rest-client.ts";
import { driven } from "../../../testing/driven.ts";
import { given, silentRecorder, type Given } from "../../../testing/given.ts";
import { defineController, watch, type Controller, type Reconcile } from "../controller.ts";
import { itself } from "../keys.ts";
import { runControllers, type RunningControllers, type RunOptions } from "../run-controllers.ts";

export interface RunWorld extends AsyncDisposable {
  readonly cluster: Given;
  /** What was logged so far. */
  readonly log: LogLine[];
  /** Called before every request and watch: its result is awaited. */
  before: (request: Omit<TransportRequest, "verb">) => Promise<void> | undefined;
  /** Documents that clients get instead of the server's, by path. */
  readonly replaced: Map<string, JsonObject>;
  /** The server's documents, as all clients see them. */
  document: (path: string, answer: JsonObject) => JsonObject;
  /** Not driven: the test advances the clock. */
  starting(controllers: readonly Controller[], more?: Partial<RunOptions>): Promise<RunningControllers>;
  start(...controllers: readonly Controller[]): Promise<RunningControllers>;
  /** Of writes of ConfigMaps with this name. */
  causesOf(name: string): Promise<readonly { readonly user: string; readonly cause?: Cause }[]>;
}

/** Creates ConfigMaps of these names. */
export async function runWorld(...names: readonly string[]): Promise<RunWorld> {
  await using making = new Disposables();
  const cluster = making.use(await given(...names.map((name) => map(name))));
  const { clock, server } = cluster;
  const lines: LogLine[] = [];
  const log = createLogger({ sink: (line) => void lines.push(line), clock, level: "debug" });
  const random = seededRandom(5);
  const before: RunWorld["before"] = () => undefined;
  const document: RunWorld["document"] = (_path, answer) => answer;
  const world = { cluster, log: lines, before, document, replaced: new Map<string, JsonObject>() };
  const through = (transport: Transport): Transport => ({
    ...transport,
    document: async (path, options) => world.replaced.get(path) ?? world.document(path, await transport.document(path, options)),
    request: async (request) => (await world.before(request), transport.request(request)),
    watch: async (request, listener) => (await world.before(request), transport.watch(request, listener)),
  });
  const transport = through(server.transport());
  const informers = making.use(createInformers({ transport, clock, random, log }));
  const owned = making.move();
  const starting: RunWorld["starting"] = async (controllers, more = {}) =>
    owned.use(
      await runControllers({
        controllers,
        informers,
        client: createClient(transport),
        clientFor: ({ account }) =>
          createClient(through(server.server.transport({ user: controllerIdentity(account), userAgent: "kube-controller-manager" }))),
        recorderFor: () => silentRecorder,
        clock,
        random,
        log,
        ...more,
      }),
    );
  return Object.assign(world, {
    starting,
    start: (...controllers: readonly Controller[]) => driven(clock, starting(controllers)),
    async causesOf(name: string) {
      const { items } = await cluster.client.document(`/debug/k8ts/causes?outcome=committed&resource=configmaps&name=${name}`);
      return items as Awaited<ReturnType<RunWorld["causesOf"]>>;
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  });
}

export function map(name: string, data: Readonly<Record<string, string>> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace: "default", name }, data } as const;
}

/** A controller of ConfigMaps in the namespace "default". */
export function mapController(reconcile: Reconcile, more: Partial<Controller> = {}): Controller {
  return defineController({
    name: "map-controller",
    account: "map-controller",
    rules: [],
    watches: [watch(configMaps, (change) => (change.object.metadata.namespace === "default" ? itself(change) : []))],
    reconcile,
    ...more,
  });
}

/** Changes a group in the response of "/apis": another version first, or no such group. */
export function withGroup(answer: JsonObject, group: string, preferred: string | undefined): JsonObject {
  const groups = (answer["groups"] as readonly JsonObject[]).flatMap((one) => {
    if (one["name"] !== group) return [one];
    return preferred === undefined ? [] : [{ ...one, preferredVersion: { groupVersion: `${group}/${preferred}`, version: preferred } }];
  });
  return { ...answer, groups };
}

/** A new one triggers discovery in controllers of all kinds. */
export function anApiService(version: string) {
  const spec = { group: "example.com", version, groupPriorityMinimum: 100, versionPriority: 100 };
  return { apiVersion: "apiregistration.k8s.io/v1", kind: "APIService", metadata: { name: `${version}.example.com` }, spec } as const;
}

/** A promise that is resolved from outside. */
export class Gate {
  open: () => void = () => {};
  readonly opened = new Promise<void>((resolve) => (this.open = resolve));
}
