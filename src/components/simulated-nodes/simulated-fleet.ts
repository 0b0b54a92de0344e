/**
 * The simulated nodes of one process. Of a store of one process they are node-0, node-1, …. Where other processes may have nodes in the same
 * cluster, as on etcd, the names tell whose they are, by this machine and the name of the cluster on it, and the numbers, of which
 * addresses are made, begin where that name says. So two processes have the same only if they were given the same names, as with real
 * machines.
 */
import { LABEL_VALUE_LENGTH_MAX } from "../../api/machinery/names.ts";
import { fnv1a32 } from "../../base/fnv-1a.ts";
import type { NodesConfig } from "./simulated-nodes.ts";
import type { StoreConfig } from "../../config/store-config.ts";

/** More would take longer to start than anybody waits for. */
export const SIMULATED_NODES_MAX = 20_000;

/** Its nodes are numbered from 0. */
export const USUAL_PREFIX = "node-";

/** As many ranges of addresses as simulated Pods have. With three nodes each, two processes meet in one of 6,000 cases. */
const NUMBERS = 2 ** 15;

export interface SimulatedFleet {
  readonly count: number;
  readonly driver: StoreConfig["driver"];
  /** What this machine is called as a node. */
  readonly nodeName: string;
  readonly clusterName: string;
}

export function simulatedFleet({ count, driver, nodeName, clusterName }: SimulatedFleet): FleetConfig {
  return fleetOf({ count, namePrefix: driver === "etcd" ? `${nodeName}-${clusterName}-` : USUAL_PREFIX });
}

export interface FleetConfig extends NodesConfig {
  readonly namePrefix: string;
}

export function fleetOf({ count, namePrefix }: Pick<FleetConfig, "count" | "namePrefix">): FleetConfig {
  if (namePrefix === USUAL_PREFIX) return { count, namePrefix };
  const first = numberOf(namePrefix);
  const members = fleetNames({ count, namePrefix }).map((name, place) => ({ name, index: first + place, isRunning: true }));
  return { count, namePrefix, members };
}

export function fleetNames({ count, namePrefix }: Pick<FleetConfig, "count" | "namePrefix">): readonly string[] {
  return Array.from({ length: count }, (_, place) => `${namePrefix}${place}`);
}

/** How long a prefix may be that so many nodes have: the whole name is a node's label kubernetes.io/hostname, too. */
export function prefixLengthMax(count: number): number {
  return LABEL_VALUE_LENGTH_MAX - String(count - 1).length;
}

/** The same for the same name, and spread evenly. */
function numberOf(name: string): number {
  return fnv1a32(name) % NUMBERS;
}
