/**
 * Validates options for callers without type checking: misspelt names, values of the wrong type. The error names the option and the
 * expected value. Not here: the meaning of values, validated by their users (simulated-nodes.ts, scheduler-config.ts, duration-input.ts).
 */
import { isObject } from "../api/machinery/object.ts";
import type { ClusterOptions, ForkOptions } from "./cluster.ts";
import { DEFAULT_API_SERVER_OPTIONS, type ServingConfig } from "../config/api-server-config.ts";
import { nearest } from "../cli/framework/suggestion.ts";
import type { NodesOptions } from "../components/simulated-nodes/simulated-nodes.ts";
import type { EtcdStoreConfig, StoreConfig } from "../config/store-config.ts";
import type { UntilOptions } from "./until.ts";

/** All property names of T, enforced by the compiler. */
type Names<T> = { readonly [Name in keyof Required<T>]: true };

const CLUSTER: Names<ClusterOptions> = {
  nodes: true,
  clock: true,
  seed: true,
  listen: true,
  from: true,
  store: true,
  controllers: true,
  scheduler: true,
  api: true,
  log: true,
};
const FORK: Names<ForkOptions> = { listen: true, seed: true, log: true };
const UNTIL: Names<UntilOptions> = { namespace: true, labelSelector: true, within: true };
const NODES: Names<NodesOptions> = {
  count: true,
  namePrefix: true,
  zones: true,
  region: true,
  capacity: true,
  labels: true,
  taints: true,
  factsFor: true,
  simulation: true,
};
const SIMULATION: Names<NonNullable<NodesOptions["simulation"]>> = { rules: true };
const SERVING: Names<ServingConfig> = {
  bindAddress: true,
  additionalBindAddresses: true,
  advertiseAddress: true,
  securePort: true,
  certificateFiles: true,
  certificateDirectory: true,
  kubeconfig: true,
  streamsPerConnectionMax: true,
};
const STORES: { readonly [Driver in StoreConfig["driver"]]: Names<Extract<StoreConfig, { readonly driver: Driver }>> } = {
  memory: { driver: true },
  embedded: { driver: true, dataDirectory: true },
  etcd: { driver: true, servers: true, prefix: true, files: true } satisfies Names<EtcdStoreConfig>,
};

/** Throws a TypeError. */
export function checkClusterOptions(options: ClusterOptions): void {
  checkNames("startCluster", options, CLUSTER);
  const { nodes, clock, store, controllers, from, api } = options;
  if (typeof nodes !== "number" && nodes !== undefined) checkNodes(nodes);
  if (clock !== undefined && !isClock(clock)) throw wrong("clock", clock, `"real", "virtual" or a Clock`, ["real", "virtual"]);
  if (store !== undefined) checkStore(store);
  if (controllers !== undefined && !Array.isArray(controllers)) throw wrong("controllers", controllers, `a list of names, such as ["*"]`);
  if (from !== undefined && typeof from !== "string") throw wrong("from", from, "the path of a file written by snapshot");
  if (api !== undefined) checkNames("api", api, DEFAULT_API_SERVER_OPTIONS.api);
  checkShared(options);
}

/** Throws a TypeError. */
export function checkForkOptions(options: ForkOptions): void {
  checkNames("fork", options, FORK);
  checkShared(options);
}

/** Throws a TypeError. */
export function checkUntilOptions(options: UntilOptions): void {
  checkNames("until", options, UNTIL);
}

function checkShared({ seed, listen }: ForkOptions): void {
  if (seed !== undefined && !Number.isFinite(seed)) throw wrong("seed", seed, "a number");
  if (listen !== undefined && typeof listen !== "boolean") checkNames("listen", listen, SERVING, "true, false or an object");
}

function checkNodes(nodes: NodesOptions): void {
  checkNames("nodes", nodes, NODES, "a number, or an object with count and options");
  if (nodes.simulation !== undefined) checkNames("nodes.simulation", nodes.simulation, SIMULATION);
}

function checkStore(store: StoreConfig): void {
  if (!isObject(store as unknown)) throw wrong("store", store, `an object such as { driver: "memory" }`);
  const drivers = Object.keys(STORES);
  if (!drivers.includes(store.driver)) throw wrong("store.driver", store.driver, choice(drivers), drivers);
  checkNames("store", store, STORES[store.driver]);
  if (store.driver === "embedded" && typeof store.dataDirectory !== "string")
    throw wrong("store.dataDirectory", store.dataDirectory, "the path of a directory");
  if (store.driver === "etcd" && !Array.isArray(store.servers)) throw wrong("store.servers", store.servers, "a list of URLs");
}

function checkNames(of: string, options: object, names: object, wanted = "an object"): void {
  if (!isObject(options)) throw wrong(of, options, wanted);
  const known = Object.keys(names);
  const strange = Object.keys(options).find((name) => !known.includes(name));
  if (strange === undefined) return;
  const near = nearest(strange, known);
  const right = near === undefined ? `the options are ${known.join(", ")}` : `did you mean "${near}"?`;
  throw new TypeError(`Unknown option "${strange}" of ${of}; ${right}`);
}

function wrong(option: string, value: unknown, wanted: string, choices: readonly string[] = []): TypeError {
  const near = typeof value === "string" ? nearest(value, choices) : undefined;
  return new TypeError(`${option} must be ${wanted}, is ${shown(value)}${near === undefined ? "" : `; did you mean "${near}"?`}`);
}

function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  return typeof value === "bigint" ? `${value}n` : String(JSON.stringify(value));
}

function choice(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" or ");
}

function isClock(clock: unknown): boolean {
  return clock === "real" || clock === "virtual" || (isObject(clock) && typeof clock["sleep"] === "function");
}
