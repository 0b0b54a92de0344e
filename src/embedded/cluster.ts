/**
 * A whole cluster inside a program, above all inside a test: the real store, API server, controllers, scheduler and node agents, with Pods
 * that are played. By default it has no port and no file, and is gone with the process. Any number of them live side by side.
 *
 * Under virtual time (`clock: "virtual"`) time passes only by `advance` and `until`, and the same seed gives the same history.
 */
import type { IdentityName } from "../api/identities.ts";
import type { KubeObject } from "../api/machinery/object.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { ApiServerConfig } from "../apiserver/api-server-config.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import type { Client } from "../client/client.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import type { Decision } from "../scheduler/decisions.ts";
import type { SchedulerConfiguration } from "../scheduler/config/scheduler-configuration.ts";
import type { WrittenConfiguration } from "../scheduler/config/written-configuration.ts";
import { DEFAULT_API_SERVER_OPTIONS, type ApiServerOptions, type ServingConfig } from "../config/api-server-config.ts";
import { CLUSTER_CONTROLLERS, mistakesInChosen } from "../config/controller-flags.ts";
import { startClusterParts, type ClusterPart, type ClusterParts, type OpenedStore } from "../components/control-plane.ts";
import { checkClusterOptions } from "./check-options.ts";
import { driverOf, type Driver } from "./driver.ts";
import { EmbeddedCluster } from "./embedded-cluster.ts";
import type { LengthOfTime } from "./length-of-time.ts";
import type { Manifests } from "./manifests.ts";
import { openSnapshotFile } from "./snapshot-file.ts";
import type { UntilOptions } from "./until.ts";
import { explainListenError, type ListenPlace } from "../cli/framework/listen-errors.ts";
import { nodesConfig, type ClusterNodes, type NodesConfig, type NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";
import { schedulerConfig } from "../config/scheduler-config.ts";
import { openStore } from "../components/store/open-store.ts";
import type { Pki } from "../pki/pki.ts";
import type { MemoryStore } from "../store/memory/memory-store.ts";
import { FIRST_REVISION, type Store } from "../store/store.ts";
import type { StoreConfig } from "../config/store-config.ts";

export type { ClusterPart } from "../components/control-plane.ts";
export type KubeSchedulerConfiguration = Omit<WrittenConfiguration, "apiVersion" | "kind">;

export interface ClusterOptions {
  /** Simulated nodes: how many, or what they are like. Default: 1, or those that the cluster had whose snapshot `from` is. */
  readonly nodes?: number | NodesOptions;
  /** "virtual": time passes only by `advance` and `until`. Default: the real time. */
  readonly clock?: "real" | "virtual" | Clock;
  /** What chance does: names, uids, choices between equals. Default: 1 under virtual time, otherwise any. */
  readonly seed?: number;
  /** An HTTPS address and a kubeconfig, for kubectl and any other client. True: any free port of 127.0.0.1. Default: no port, no file. */
  readonly listen?: boolean | Partial<ServingConfig>;
  /** A file that `snapshot` wrote (or `k8ts store snapshot`): the cluster goes on from there, under virtual time at the time of then. */
  readonly from?: string;
  /** Default: in memory, gone with the process. */
  readonly store?: StoreConfig;
  /** Which controllers run, as --controllers of `k8ts controller-manager` takes them. Default: all. */
  readonly controllers?: readonly string[];
  /** As `k8ts scheduler --config` takes it. False: none runs. Default: upstream's one profile. */
  readonly scheduler?: KubeSchedulerConfiguration | false;
  /** What differs from the defaults of the API server. */
  readonly api?: Partial<ApiServerConfig>;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/**
 * What a fork may have that differs from the original. By default it listens if the original does, at a port of its own, and each fork has
 * chance of its own; with a seed, forks of one moment go the same way as long as the same is done to them.
 */
export type ForkOptions = Pick<ClusterOptions, "listen" | "seed" | "log">;

export interface InNamespace {
  /** Default: "default". */
  readonly namespace?: string;
}

export interface Cluster extends AsyncDisposable {
  readonly parts: readonly ClusterPart[];
  /** The API as the administrator; under virtual time it needs nobody who moves the clock. */
  readonly client: Client;
  readonly clock: Clock;
  /** What repeats this cluster; of a fork, that of the original unless it was given one. Absent if chance was not fixed. */
  readonly seed: number | undefined;
  /** Where the API is, such as https://127.0.0.1:6443. Only of clusters that listen. */
  readonly url: string;
  /** The path of a file with which kubectl, Helm and client libraries find it. Only of clusters that listen. */
  readonly kubeconfig: string;
  /**
   * The API without a socket, for programs that go by this cluster's clock: controllers of one's own. `userAgent` names the program, and who owns the fields that it writes;
   * `identity` says who it is and so what it may do (api/identities.ts has those of the cluster's parts). Default: the administrator.
   */
  transport(options: { readonly userAgent: string; readonly identity?: IdentityName }): Transport;

  /** Server-side apply of YAML or JSON text with any number of documents, or of objects; resolves with what is stored. */
  apply(manifests: Manifests, options?: InNamespace): Promise<readonly KubeObject[]>;
  /** "deployment/web". Rejects with NotFound if there is none. */
  get<T extends KubeObject = KubeObject>(reference: string, options?: InNamespace): Promise<T>;
  delete(reference: string, options?: InNamespace): Promise<void>;
  /**
   * Resolves with the object ("deployment/web") or the objects ("pods") when the condition is true of it; the object is undefined while
   * there is none. Rejects with what was last seen if it takes too long. Any number may wait at once, each for its own moment.
   */
  until<T extends KubeObject = KubeObject>(
    reference: `${string}/${string}`,
    condition: (object: T | undefined) => object is undefined,
    options?: UntilOptions,
  ): Promise<undefined>;
  until<T extends KubeObject = KubeObject>(
    reference: `${string}/${string}`,
    condition: (object: T | undefined) => boolean,
    options?: UntilOptions,
  ): Promise<T>;
  until<T extends KubeObject = KubeObject>(
    reference: string,
    condition: (objects: readonly T[]) => boolean,
    options?: UntilOptions,
  ): Promise<readonly T[]>;
  /** For a reference that was put together: what it is decides what the condition gets. */
  until<T extends KubeObject = KubeObject>(
    reference: string,
    condition: (object: T | undefined) => boolean,
    options?: UntilOptions,
  ): Promise<T>;

  /**
   * Lets so much virtual time pass ("6m"): everything that is due on the way happens, exactly when it is due. Two who call this at once
   * let the same time pass, as it does for all who wait meanwhile.
   */
  advance(length: LengthOfTime): Promise<void>;
  /** Lets everything happen that is due at this moment of virtual time. */
  settle(): Promise<void>;

  /** The machines: `stop` silences one as if its cable was cut, `start` brings it back. */
  readonly nodes: ClusterNodes;
  /** What a container of a Pod has written so far. */
  logs(pod: string, options?: InNamespace & { readonly container?: string }): Promise<string>;
  /** Runs a command in a container of a Pod. */
  exec(pod: string, command: readonly string[], options?: InNamespace & { readonly container?: string }): Promise<ExecOutcome>;
  /** Why a Pod is where it is, or nowhere: the scheduler's last decisions about it, newest last. */
  decisions(pod: string, options?: InNamespace): readonly Decision[];

  /** An independent cluster with the same state at the same time. Both go on by themselves. */
  fork(options?: ForkOptions): Promise<Cluster>;
  /** Writes the state and the time to a file, for `startCluster({ from: file })`. */
  snapshot(file: string): Promise<void>;
  /** Stops everything; resolves when nothing of it is left. A second call waits for the same. */
  close(): Promise<void>;
}

export interface ExecOutcome {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  checkClusterOptions(options);
  const { from, store: config = { driver: "memory" }, log = silentLogger } = options;
  const snapshot = from === undefined ? undefined : await openSnapshotFile(from);
  const clock = clockOf(options.clock ?? "real", snapshot?.takenAtMs);
  const seed = options.seed ?? (clock instanceof VirtualClock ? DEFAULT_SEED : undefined);
  const start: Start = { clock, seed, random: randomOf(seed), nodes: nodesConfig(options.nodes, snapshot?.nodes) };
  // What is wrong in these is told before anything is opened.
  const scheduler = schedulerOf(options);
  const mistakes = mistakesInChosen(options.controllers ?? []);
  if (mistakes.length > 0) throw new Error(`Cannot select controllers: ${mistakes.join("; ")}`);
  const opening = snapshot?.open({ clock, config }) ?? openStore(config, { clock, log: log.with({ part: "store" }) });
  const opened = await driven(driverOf(clock), opening);
  return startOn({ config, opened }, { ...options, log }, { ...start, ...scheduler });
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
  /** Certificates and keys of the one that it goes on from, if nobody else knows those. */
  readonly pki?: Pki;
}

/** The store is closed with the cluster, also with one that does not come up. */
async function startOn(store: OpenedStore, options: ClusterOptions & { readonly log: Logger }, start: Start): Promise<Cluster> {
  const { listen = false, controllers = CLUSTER_CONTROLLERS, log } = options;
  const { clock, seed, nodes, scheduler, pki } = start;
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
    ...(driver === undefined
      ? {}
      : { aroundExchange: (exchange) => (request, offer, switching) => driver.whenever(exchange(request, offer, switching)) }),
  });
  const parts = starting.use(
    await driven(driver, partsStarting).catch(async (error: unknown) => {
      throw await explainListenError(error, placeOf(apiServer));
    }),
  );
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

/** Its parts start anew on a copy of the store, at the same time. */
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
  // Those of a cluster without a door are known to everybody.
  const pki = door?.pki ?? original.pki;
  const start: Start = { ...original, clock, seed, random, nodes: nodes.config(), ...(pki === undefined ? {} : { pki }) };
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
    // In a test a change of what everybody shares must be seen where it is made.
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
