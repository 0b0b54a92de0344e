/**
 * The composition root: from a configuration to the parts that run in this process, started in the order in which they need
 * each other and stopped in the reverse. A start that fails half-way stops what it had started.
 */
import { ADMINISTRATOR, type IdentityName } from "../api/identities.ts";
import type { Transport } from "../api/machinery/transport.ts";
import type { Clock } from "../base/clock.ts";
import { Disposables } from "../base/disposables.ts";
import { silentLogger, type Logger } from "../base/logger.ts";
import { newUid } from "../apiserver/write/identifiers.ts";
import { machineName } from "../host/private-files.ts";
import type { Random } from "../base/random.ts";
import { realClock } from "../host/real-clock.ts";
import { realRandom } from "../host/real-random.ts";
import { startStoreAndApiServer } from "./api-server-core.ts";
import { DEFAULT_API_SERVER_OPTIONS, type ApiServerOptions } from "./apiserver-config.ts";
import { CONTROLLER_MANAGER_AGENT, controllerSettings } from "./controllers-part.ts";
import { CLUSTER_CONTROLLERS } from "./controller-flags.ts";
import type { Election } from "./led.ts";
import { CONTROLLER_MANAGER_LEASE, startLedControllers, type LedControllers } from "./led-controllers.ts";
import type { StoreConfig } from "./store-config.ts";

export interface ClusterOptions {
  /** Default: in memory, gone with the process. */
  readonly store?: StoreConfig;
  /** Default: on any free port of 127.0.0.1, with a kubeconfig in a temporary directory that is gone when the cluster is. */
  readonly apiServer?: ApiServerOptions;
  /** Which controllers run, as --controllers of `k8ts controller-manager` takes them. Default: all. */
  readonly controllers?: readonly string[];
  /** Default: the real time. */
  readonly clock?: Clock;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/** Something that runs. */
export interface ClusterPart {
  readonly name: string;
  /** What a person would like to know of it: its kind, its place. */
  readonly description: string;
}

export interface Cluster extends AsyncDisposable {
  readonly parts: readonly ClusterPart[];
  /** Where the API is, such as https://127.0.0.1:6443. */
  readonly url: string;
  /** The path of a file with which kubectl, Helm and client libraries find it. */
  readonly kubeconfig: string;
  /**
   * The API without a socket, for programs in this process. `userAgent` names the program, and who owns the fields that it writes;
   * `identity` says who it is and so what it may do (api/identities.ts has those of the cluster's parts). Default: the administrator.
   */
  transport(options: { readonly userAgent: string; readonly identity?: IdentityName }): Transport;
  /** Stops everything; resolves when nothing of it is left. A second call waits for the same. */
  close(): Promise<void>;
}

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { store: config = { driver: "memory" }, apiServer = DEFAULT_API_SERVER_OPTIONS, controllers = CLUSTER_CONTROLLERS } = options;
  const { clock = realClock, log = silentLogger } = options;
  await using starting = new Disposables();
  // The controllers come after the server whose /metrics shows their figures.
  const late: { led?: LedControllers } = {};
  const moreMetrics = () => late.led?.metrics() ?? [];
  const { part, core } = starting.use(await startStoreAndApiServer({ store: config, apiServer }, { clock, log, moreMetrics }));
  // In this process nobody needs to show who they are.
  const transportFor = (user: IdentityName, userAgent: string): Transport => core.transport({ user, userAgent });
  const random = realRandom();
  const led = starting.use(
    startLedControllers({
      controllers,
      settings: controllerSettings(part),
      transportFor: (identity) => transportFor(identity, CONTROLLER_MANAGER_AGENT),
      election: { lease: CONTROLLER_MANAGER_LEASE, ...candidate(config, random) },
      isFenced: config.driver === "etcd",
      clock,
      random,
      log,
    }),
  );
  late.led = led;
  // On etcd another may be on its way to lead, and on a store of one's own it is known at once.
  const running = config.driver === "etcd" ? undefined : await Promise.race([led.started, led.isLedByAnother]);
  const owned = starting.move();
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= Promise.resolve(owned[Symbol.asyncDispose]()));
  return {
    parts: [
      { name: "store", description: describeStore(config) },
      { name: "API server", description: part.url },
      { name: "controllers", description: describeControllers(running) },
    ],
    url: part.url,
    kubeconfig: part.kubeconfig,
    transport: ({ userAgent, identity = ADMINISTRATOR }) => transportFor(identity, userAgent),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The only process on its store renews its lease seldom, since nobody could take it while the server is down; under one name, it takes
 * it again at once when it comes back. A controller manager that runs by itself can lead, if it was first. On etcd there may be any number.
 */
function candidate({ driver }: StoreConfig, random: Random): Omit<Election, "lease"> {
  if (driver === "etcd") return { identity: `${machineName()}_${newUid(random)}` };
  return { identity: "k8ts-up", leaseDurationMs: 3_600_000, renewDeadlineMs: 2_400_000, retryPeriodMs: 30_000 };
}

/** Undefined: another leads, or it is not known yet who does. */
function describeControllers(names: readonly string[] | void): string {
  if (names === undefined) return "running in the process that holds the lease kube-system/kube-controller-manager";
  return names.length === 0 ? "none" : `${names.length} running`;
}

function describeStore(config: StoreConfig): string {
  switch (config.driver) {
    case "memory":
      return "in memory, gone when this process ends";
    case "embedded":
      return `in ${config.dataDirectory}`;
    case "etcd":
      return `in etcd at ${config.servers.join(", ")}`;
  }
}
