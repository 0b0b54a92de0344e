/** Starts an embedded cluster from its options, and forks one. The contract is cluster.ts. */
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import type { SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import { DEFAULT_API_SERVER_OPTIONS, type ApiServerOptions } from "../config/api-server-config.ts";
import { CLUSTER_CONTROLLERS, invalidControllerNames } from "../config/controller-flags.ts";
import { startClusterParts, type ClusterParts, type OpenedStore } from "../components/control-plane.ts";
import { checkClusterOptions } from "./check-options.ts";
import { ADMINISTRATOR } from "../api/identities.ts";
import { createClient } from "../client/rest-client.ts";
import { createStandardClass } from "../localpath/standard-class.ts";
import { driverOf, type Driver } from "./driver.ts";
import { EmbeddedCluster } from "./embedded-cluster.ts";
import { openSnapshotFile } from "./snapshot-file.ts";
import { explainListenError, type ListenPlace } from "../cli/framework/listen-errors.ts";
import { nodesConfig, type NodesConfig } from "../components/simulated-nodes/simulated-nodes.ts";
import { schedulerConfig } from "../config/scheduler-config.ts";
import { openStore } from "../components/store/open-store.ts";
import type { Pki } from "../pki/pki.ts";
import { openMemoryStore, type MemoryStore } from "../store/memory/memory-store.ts";
import { FIRST_REVISION, type Entry, type Store } from "../store/store.ts";
import type { Cluster, ClusterOptions, ForkOptions } from "./cluster.ts";

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkClusterOptions(options);
  const { from, store: config = { driver: "memory" }, log = silentLogger } = options;
  const snapshot = from === undefined ? undefined : await openSnapshotFile(from);
  const clock = clockOf(options.clock ?? "real", snapshot?.takenAtMs);
  const seed = options.seed ?? (clock instanceof VirtualClock ? DEFAULT_SEED : undefined);
  const start: Start = { clock, seed, random: randomOf(seed), nodes: nodesConfig(options.nodes, snapshot?.nodes) };
  // Problems of these are reported before anything is opened.
  const scheduler = schedulerOf(options);
  const mistakes = invalidControllerNames(options.controllers ?? []);
  if (mistakes.length > 0) throw new Error(`Cannot select controllers: ${mistakes.join("; ")}`);
  const opening = snapshot?.open({ clock, config }) ?? openStore(config, { clock, log: log.with({ part: "store" }) });
  const opened = await driven(driverOf(clock), opening);
  return startOn({ config, opened }, { ...options, log }, { ...start, ...scheduler });
}

export interface CopyOptions {
  /** Virtual time starts here. */
  readonly nowMs: number;
  readonly nodes: NodesConfig;
}

/** A cluster with virtual time on the objects of another one: `entries` are ordered by key, each at most at `revision`. */
export async function startClusterOn(entries: AsyncIterable<Entry>, revision: number, { nowMs, nodes }: CopyOptions): Promise<Cluster> {
  const clock = newVirtualClock(nowMs);
  const opened = openMemoryStore({ clock });
  const driver = driverOf(clock);
  await driven(driver, opened.restore(entries, revision));
  const start: Start = { clock, seed: DEFAULT_SEED, random: randomOf(DEFAULT_SEED), nodes, ...schedulerOf({}) };
  return startOn({ config: { driver: "memory" }, opened }, { log: silentLogger }, start);
}

/** So that a test that says nothing of chance is the same every time. */
const DEFAULT_SEED = 1;

interface Start {
  readonly clock: Clock;
  readonly seed: number | undefined;
  /** Where all of its chance comes from. */
  readonly random: Random;
  readonly nodes: NodesConfig;
  /** Absent: none runs. */
  readonly scheduler?: SchedulerConfiguration;
  /** Certificates and keys of the original, if they are random. */
  readonly pki?: Pki;
  readonly isFork?: boolean;
}

/** The store is closed with the cluster, also with one that does not come up. */
async function startOn(store: OpenedStore, options: ClusterOptions & { readonly log: Logger }, start: Start): Promise<Cluster> {
  const { listen = false, controllers = CLUSTER_CONTROLLERS, log } = options;
  const { clock, seed, nodes, scheduler, pki, isFork = false } = start;
  const driver = driverOf(clock);
  await using starting = new Disposables();
  starting.defer(() => store.opened.close());
  const random = await chanceFrom(start.random, store.opened);
  const apiServer = apiServerOptions(options);
  const partsStarting = startClusterParts({
    ...{ store, controllers, nodes, clock, random, log },
    apiServer,
    listens: listen !== false,
    ...(scheduler === undefined ? {} : { scheduler }),
    ...(pki === undefined ? {} : { pki }),
    // With virtual time, all that is due is done before a test continues.
    ...(isFork ? { fork: { isAwaited: driver !== undefined } } : {}),
    ...(driver === undefined
      ? {}
      : { aroundExchange: (exchange) => (request, offer, switching) => driver.whenever(exchange(request, offer, switching)) }),
  });
  const parts = starting.use(
    await driven(driver, partsStarting).catch(async (error: unknown) => {
      throw await explainListenError(error, placeOf(apiServer));
    }),
  );
  if (nodes.count > 0 && !isFork) await driven(driver, createStandardClass(createClient(parts.transportFor(ADMINISTRATOR, "k8ts"))));
  // What begins with the start is over when it is: nothing of it comes in between what a test does.
  await driver?.settle();
  const owned = starting.move();
  let forks = 0;
  return new EmbeddedCluster(parts, {
    ...{ clock, driver, seed, random: random.derive("embedded"), log },
    dispose: () => owned[Symbol.asyncDispose](),
    fork: (forkOptions) => fork(parts, options, { ...start, random: random.derive(`fork ${++forks}`) }, forkOptions),
  });
}

/** In the words of the options. */
function placeOf({ serving }: ApiServerOptions): ListenPlace {
  const { bindAddress: address, securePort: port } = serving;
  return { address, port, addressFlag: "listen.bindAddress", portFlag: "listen.securePort" };
}

/** Its components start on a copy of the store, at the same time. */
async function fork(
  parts: ClusterParts,
  options: ClusterOptions & { readonly log: Logger },
  original: Start,
  given: ForkOptions,
): Promise<Cluster> {
  const { store, nodes, door } = parts;
  if (!("fork" in store)) throw new Error("Cannot fork this cluster: only the memory store can be forked; use snapshot");
  const { listen = listenOfFork(options.listen), seed = original.seed, log = options.log } = given;
  const clock = original.clock instanceof VirtualClock ? newVirtualClock(original.clock.now()) : original.clock;
  const random = given.seed === undefined ? original.random : randomOf(given.seed);
  const opened = (store as MemoryStore).fork({ clock });
  // Without HTTPS they are fixed, public ones.
  const pki = door?.pki ?? original.pki;
  const start: Start = { ...original, clock, seed, random, nodes: nodes.config(), isFork: true, ...(pki === undefined ? {} : { pki }) };
  return startOn({ config: { driver: "memory" }, opened }, { ...options, listen, log }, start);
}

/** At a port and with a kubeconfig of its own. */
function listenOfFork(listen: ClusterOptions["listen"] = false): NonNullable<ClusterOptions["listen"]> {
  if (typeof listen !== "object") return listen;
  const { securePort: _port, kubeconfig: _file, ...same } = listen;
  return same;
}

function schedulerOf({ scheduler }: ClusterOptions): Pick<Start, "scheduler"> {
  return scheduler === false ? {} : { scheduler: schedulerConfig(scheduler) };
}

function randomOf(seed: number | undefined): Random {
  return seed === undefined ? realRandom() : seededRandom(seed);
}

/** On a store that has been written to other chance than on a new one: the same would give objects the uids of those that there are. */
async function chanceFrom(random: Random, store: Store): Promise<Random> {
  const revision = await store.currentRevision();
  return revision <= FIRST_REVISION ? random : random.derive(`from revision ${revision}`);
}

function apiServerOptions({ listen, api }: ClusterOptions): ApiServerOptions {
  const serving = typeof listen === "object" ? listen : {};
  return {
    ...DEFAULT_API_SERVER_OPTIONS,
    serving: { ...DEFAULT_API_SERVER_OPTIONS.serving, ...serving },
    // In a test a mutation of a shared object must fail where it happens.
    api: { ...DEFAULT_API_SERVER_OPTIONS.api, freezeObjects: true, ...api },
  };
}

function clockOf(clock: "real" | "virtual" | Clock, startMs: number | undefined): Clock {
  if (clock === "real") return realClock;
  return clock === "virtual" ? newVirtualClock(startMs) : clock;
}

function newVirtualClock(startMs: number | undefined): VirtualClock {
  return new VirtualClock({ macrotask: realMacrotask, ...(startMs === undefined ? {} : { startMs }) });
}

function driven<T>(driver: Driver | undefined, promise: Promise<T>): Promise<T> {
  return driver === undefined ? promise : driver.through(promise);
}
