/**
 * Names of the simulated nodes of one process. On an exclusive store they are node-0, node-1, …. If other processes may have nodes in the
 * same cluster, as on etcd, the names contain the machine and the cluster's name on it, and the numbers, from which addresses derive, start
 * at a hash of that. So two processes conflict only if they have the same names, like real machines.
 */
import { LABEL_VALUE_LENGTH_MAX } from "../../api/machinery/names.ts";
import { fnv1a32 } from "../../base/crypto/fnv-1a.ts";
import type { NodesConfig } from "./simulated-nodes.ts";
import type { StoreConfig } from "../../config/store-config.ts";

/** Upper limit for an acceptable start time. */
export const SIMULATED_NODES_MAX = 20_000;

/** Nodes are numbered from 0. */
export const USUAL_PREFIX = "node-";

/** Number of address ranges of simulated Pods. With three nodes each, two processes collide in one of 6,000 cases. */
const NUMBERS = 2 ** 15;

export interface SimulatedFleet {
  readonly count: number;
  readonly driver: StoreConfig["driver"];
  /** Node name of this machine. */
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

/** Maximum length of a prefix for this many nodes: the full name is also the label kubernetes.io/hostname. */
export function prefixLengthMax(count: number): number {
  return LABEL_VALUE_LENGTH_MAX - String(count - 1).length;
}

/** Deterministic and uniformly distributed. */
function numberOf(name: string): number {
  return fnv1a32(name) % NUMBERS;
}
