/** A cluster for tests: as anybody's, and under virtual time it comes up without anybody moving the clock meanwhile. */
import { VirtualClock } from "../base/virtual-clock.ts";
import { startCluster as start, type Cluster, type ClusterOptions } from "../main/cluster.ts";
import { driven } from "./driven.ts";

export function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const starting = start(options);
  return options.clock instanceof VirtualClock ? driven(options.clock, starting) : starting;
}
