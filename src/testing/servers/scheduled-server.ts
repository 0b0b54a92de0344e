/**
 * An API server for tests with the bootstrap roles of every cluster, and the scheduler with all its plugins in the same process, under its
 * own identity, from a seed and under virtual time. There are no kubelets, and only requested controllers: nodes stay as they are created,
 * and bound Pods stay until a test deletes them.
 */
import { KUBE_SCHEDULER } from "../../api/identities.ts";
import { events } from "../../api/core/v1/event.ts";
import { pods } from "../../api/core/v1/pod.ts";
import type { Event, Pod } from "../../api/generated/core/v1.ts";
import type { Transport } from "../../api/machinery/transport.ts";
import { startGuardedServer, type StartedServer } from "../../apiserver/testing/server.ts";
import { Disposables } from "../../base/disposables.ts";
import { silentLogger } from "../../base/logger.ts";
import { seededRandom } from "../../base/random.ts";
import type { VirtualClock } from "../../base/virtual-clock.ts";
import type { Client } from "../../client/client.ts";
import { createClient } from "../../client/rest-client.ts";
import { CATALOG, schedulerConfig } from "../../config/scheduler-config.ts";
import { SCHEDULER_AGENT } from "../../components/scheduler.ts";
import { defaultSchedulerConfiguration } from "../../scheduler/config/read-configuration.ts";
import type { Plugin, PluginFactory } from "../../scheduler/framework/plugin.ts";
import { startScheduler, type RunningScheduler, type SchedulerOptions } from "../../scheduler/scheduler.ts";
import { driven } from "../driven.ts";
import { createObject } from "../given.ts";
import { startControlledServer } from "./controlled-server.ts";

export type WrittenSchedulerConfiguration = NonNullable<Parameters<typeof schedulerConfig>[0]>;

export interface SchedulerStart {
  /** Default: upstream's default profile. */
  readonly configuration?: WrittenSchedulerConfiguration | undefined;
  /** One more plugin in the default profile, which is then the only one. */
  readonly plugin?: Plugin | undefined;
  readonly underWayMax?: number | undefined;
  /** Controllers that run beside it: a value of --controllers. Default: none. */
  readonly controllers?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  /** Wraps the transport between the scheduler and the server. */
  readonly around?: ((transport: Transport) => Transport) | undefined;
  /** Aborts the start. */
  readonly signal?: AbortSignal | undefined;
}

export interface ScheduledServer extends AsyncDisposable {
  readonly server: StartedServer;
  readonly clock: VirtualClock;
  /** A cluster administrator's client. */
  readonly client: Client;
  readonly scheduler: RunningScheduler;
  /** Creates objects in the given order, with their status, and lets the clock settle. */
  make(...objects: readonly object[]): Promise<void>;
  pod(name: string): Promise<Pod>;
  /** Placement of all Pods, by name: "p on n1", or "p waits". */
  places(): Promise<readonly string[]>;
  /** Events about a Pod, in order: "Warning FailedScheduling 0/1 nodes are available: …". */
  eventsOf(name: string): Promise<readonly string[]>;
  /** All events, in order. */
  events(): Promise<readonly Event[]>;
  /** Starts another scheduler, concurrently or afterwards. The caller stops it. */
  start(): Promise<RunningScheduler>;
  /** Number of scheduling attempts so far, for all Pods. */
  attempts(): number;
}

/** The objects exist before the scheduler starts. */
export async function startScheduledServer(start: SchedulerStart = {}, ...objects: readonly object[]): Promise<ScheduledServer> {
  await using starting = new Disposables();
  const { controllers } = start;
  const server = starting.use(await (controllers === undefined ? startGuardedServer() : startControlledServer(controllers)));
  const { clock } = server;
  const client = createClient(server.transport());
  for (const object of objects) await makeFor(client, object);
  const scheduler = await driven(clock, beginScheduler(server, start));
  starting.defer(() => driven(clock, scheduler.stop()));
  await clock.settle();
  const owned = starting.move();
  return {
    ...{ server, clock, client, scheduler },
    async make(...more) {
      for (const object of more) await makeFor(client, object);
      await clock.settle();
    },
    pod: (name) => client.get(pods, { namespace: "default", name }),
    places: () => placesOf(client),
    async eventsOf(name) {
      const about = (await eventsOf(client)).filter(({ involvedObject }) => involvedObject.name === name);
      return about.map(({ type, reason, message }) => `${type} ${reason} ${message}`);
    },
    events: () => eventsOf(client),
    async start() {
      const another = await driven(clock, beginScheduler(server, start));
      await clock.settle();
      return another;
    },
    attempts: () => attemptsOf(scheduler),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** Their status is left out: the scheduler or the binder may have written to it before. */
const OWN_STATUS = ["Pod", "PersistentVolume", "PersistentVolumeClaim"];

export async function makeFor(client: Client, object: object): Promise<void> {
  const { status: _status, ...rest } = object as { readonly kind?: string; readonly status?: unknown };
  await createObject(client, OWN_STATUS.includes(rest.kind ?? "") ? rest : object);
}

/** Resolves when the scheduler runs, for which the clock must be driven. The caller stops it. */
export function beginScheduler(
  server: StartedServer,
  { configuration, plugin, underWayMax, seed = 1, around, signal }: SchedulerStart = {},
): Promise<RunningScheduler> {
  const { clock } = server;
  const transport = server.server.transport({ user: KUBE_SCHEDULER, userAgent: SCHEDULER_AGENT });
  return startScheduler({
    transport: around?.(transport) ?? transport,
    ...(plugin === undefined ? { configuration: schedulerConfig(configuration), catalog: CATALOG } : havingToo(plugin)),
    ...(underWayMax === undefined ? {} : { underWayMax }),
    ...{ clock, random: seededRandom(seed), log: silentLogger },
    ...(signal === undefined ? {} : { signal }),
  });
}

function havingToo(plugin: Plugin): Pick<SchedulerOptions, "configuration" | "catalog"> {
  const factory: PluginFactory = { name: plugin.name, make: () => plugin };
  const catalog = { defaults: [...CATALOG.defaults, { factory }] };
  return { configuration: defaultSchedulerConfiguration(catalog), catalog };
}

export async function placesOf(client: Client): Promise<readonly string[]> {
  const { items } = await client.list(pods);
  return items.map(({ metadata, spec }) => `${metadata.name} ${spec?.nodeName === undefined ? "waits" : `on ${spec.nodeName}`}`).sort();
}

async function eventsOf(client: Client): Promise<readonly Event[]> {
  const { items } = await client.list(events);
  return items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
}

function attemptsOf(scheduler: RunningScheduler): number {
  const family = scheduler.metrics().find(({ name }) => name === "scheduler_schedule_attempts_total");
  return family?.type === "counter" ? family.samples.reduce((sum, { value }) => sum + Number(value), 0) : 0;
}
