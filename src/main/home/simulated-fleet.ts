/**
 * The simulated nodes of `k8ts up`. A store of one process has node-0, node-1, …. On etcd other processes may have nodes in the same
 * cluster: there the names tell whose they are, by this machine and the name of the cluster on it, and the numbers, of which addresses are
 * made, begin where that name says. So two processes have the same only if they were given the same names, as with real machines.
 */
import type { NodesConfig } from "../nodes-part.ts";
import type { StoreConfig } from "../store-config.ts";

/** As many ranges of addresses as simulated Pods have. With three nodes each, two processes meet in one of 6,000 cases. */
const NUMBERS = 2 ** 15;

export interface SimulatedFleet {
  readonly count: number;
  readonly driver: StoreConfig["driver"];
  /** What this machine is called as a node. */
  readonly nodeName: string;
  readonly clusterName: string;
}

export function simulatedFleet({ count, driver, nodeName, clusterName }: SimulatedFleet): NodesConfig {
  if (driver !== "etcd") return { count };
  const prefix = `${nodeName}-${clusterName}-`;
  const first = numberOf(prefix);
  const members = Array.from({ length: count }, (_, place) => ({ name: `${prefix}${place}`, index: first + place, isRunning: true }));
  return { count, namePrefix: prefix, members };
}

/** The same for the same name, and spread evenly: FNV-1a. */
function numberOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash % NUMBERS;
}
