/** A cluster for tests: as anybody's, and under virtual time it comes up without anybody moving the clock meanwhile. */
import { VirtualClock } from "../base/virtual-clock.ts";
import { startCluster as start, type Cluster, type ClusterOptions } from "../main/cluster.ts";

export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const { clock } = options;
  const starting = start(options);
  if (!(clock instanceof VirtualClock)) return starting;
  let isSettled = false;
  const settled = (): void => void (isSettled = true);
  starting.then(settled, settled);
  // However long files and sockets take: that is real time. Of virtual time nobody who starts needs any.
  while (!isSettled) await clock.settle();
  return starting;
}
