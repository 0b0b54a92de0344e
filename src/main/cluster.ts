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
import { silentLogger, type Logger } from "../base/logger.ts";
import { seededRandom, type Random } from "../base/random.ts";
import { VirtualClock } from "../base/virtual-clock.ts";
import type { Client } from "../client/client.ts";
import { realClock, realMacrotask } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import type { Decision } from "../scheduler/decisions.ts";
import type { WrittenConfiguration } from "../scheduler/config/written-configuration.ts";
import { DEFAULT_API_SERVER_OPTIONS, type ApiServerOptions, type ServingConfig } from "./apiserver-config.ts";
import { CLUSTER_CONTROLLERS } from "./controller-flags.ts";
import { startClusterParts, type ClusterPart, type ClusterParts, type OpenedStore } from "./cluster-parts.ts";
import { driverOf, type Driver } from "./embedded/driver.ts";
import { EmbeddedCluster } from "./embedded/embedded-cluster.ts";
import type { LengthOfTime } from "./embedded/length-of-time.ts";
import type { Manifests } from "./embedded/manifests.ts";
import { openSnapshotFile } from "./embedded/snapshot-file.ts";
import type { UntilOptions } from "./embedded/until.ts";
import { nodesConfig, type ClusterNodes, type NodesConfig, type NodesOptions } from "./nodes-part.ts";
import { schedulerConfig } from "./scheduler-config.ts";
import type { MemoryStore } from "../store/memory/memory-store.ts";
import type { StoreConfig } from "./store-config.ts";

export type { ClusterPart } from "./cluster-parts.ts";
export type KubeSchedulerConfiguration = Omit<WrittenConfiguration, "apiVersion" | "kind">;

export interface ClusterOptions {
  /** Simulated nodes: how many, or what they are like. Default: 1. */
  readonly nodes?: number | NodesOptions;
  /** "virtual": time passes only by `advance` and `until`. Default: the real time. */
  readonly clock?: "real" | "virtual" | Clock;
  /** What chance does: names, uids, choices between equals. Default: 1 under virtual time, otherwise any. */
  readonly seed?: number;
  /** An HTTPS address and a kubeconfig, for kubectl and any other client. True: any free port of 127.0.0.1. Default: no port, no file. */
  readonly listen?: boolean | Partial<ServingConfig>;
  /** A file that `snapshot` wrote (or `k8ts store snapshot`): the cluster goes on from there. */
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

/** What a fork may have that differs from the original. */
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
  /** What repeats this cluster: absent if chance was not fixed. */
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
   * there is none. Rejects with what was last seen if it takes too long.
   */
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

  /** Lets so much virtual time pass ("6m"): everything that is due on the way happens, exactly when it is due. */
  advance(length: LengthOfTime): Promise<void>;
  /** Lets everything happen that is due at this moment of virtual time. */
  settle(): Promise<void>;

  /** The machines: `stop` silences one as if its plug was pulled, `start` puts it in again. */
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
  const { from, store = { driver: "memory" } } = options;
  const snapshot = from === undefined ? undefined : await openSnapshotFile(from);
  const clock = clockOf(options.clock ?? "real", snapshot?.takenAtMs);
  const starting = async () => {
    const opened = await snapshot?.open({ clock, config: store });
    return opened === undefined ? { store } : { store: { config: store, opened } };
  };
  const seed = options.seed ?? (clock instanceof VirtualClock ? 1 : undefined);
  const random = seed === undefined ? realRandom() : seededRandom(seed);
  const driver = driverOf(clock);
  const { store: place } = await driven(driver, starting());
  return startOn(place, options, { clock, random, driver, seed, nodes: nodesConfig(options.nodes ?? 1) });
}

interface Start {
  readonly clock: Clock;
  readonly random: Random;
  readonly driver: Driver | undefined;
  readonly seed: number | undefined;
  readonly nodes: NodesConfig;
}

async function startOn(store: StoreConfig | OpenedStore, options: ClusterOptions, start: Start): Promise<Cluster> {
  const { listen = false, controllers = CLUSTER_CONTROLLERS, scheduler, log = silentLogger } = options;
  const { clock, random, driver, seed, nodes } = start;
  const configured = scheduler === false ? undefined : schedulerConfig(scheduler);
  const starting = startClusterParts({
    ...{ store, controllers, nodes, clock, random, log },
    apiServer: apiServerOptions(options),
    listens: listen !== false,
    ...(configured === undefined ? {} : { scheduler: configured }),
    ...(driver === undefined ? {} : { aroundExchange: (exchange) => (request, offer) => driver.whenever(exchange(request, offer)) }),
  });
  const parts = await driven(driver, starting);
  // What begins with the start is over when it is: nothing of it comes in between what a test does.
  await driver?.settle();
  let forks = 0;
  return new EmbeddedCluster(parts, {
    ...{ clock, driver, seed, random: random.derive("embedded"), log },
    closeStore: () => ("opened" in store ? store.opened.close() : Promise.resolve()),
    fork: (forkOptions) => fork(parts, { ...options, ...forkOptions }, { ...start, seed: forkOptions.seed ?? seed }, ++forks),
  });
}

/** Its parts start anew on a copy of the store, at the same time. */
async function fork(parts: ClusterParts, options: ClusterOptions, { clock, seed }: Start, number: number): Promise<Cluster> {
  const { store } = parts;
  if (!("fork" in store))
    throw new Error("Cannot fork this cluster: only one whose store is in memory can be copied at once; use snapshot");
  const forkClock = clock instanceof VirtualClock ? newVirtualClock(clock.now()) : clock;
  const random = seed === undefined ? realRandom() : seededRandom(seed).derive(`fork ${number}`);
  const opened = (store as MemoryStore).fork({ clock: forkClock });
  const place: OpenedStore = { config: { driver: "memory" }, opened };
  return startOn(place, options, { clock: forkClock, random, driver: driverOf(forkClock), seed, nodes: parts.nodes.config() });
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
