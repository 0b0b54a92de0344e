/**
 * A copy of a cluster in this process, on which changes can be tried: its objects in a memory store, its nodes simulated, virtual time.
 * What the copy cannot show is what only containers know: whether a program crashes, and whether a registry has an image.
 */
import { startClusterOn } from "../../embedded/start-cluster.ts";
import type { Cluster } from "../../embedded/cluster.ts";
import type { ClusterView } from "../why/cluster-view.ts";
import { copyOf } from "./copied-entries.ts";

export async function copyCluster(view: ClusterView): Promise<Cluster> {
  const { entries, revision, nodes } = copyOf(view);
  return startClusterOn(entries, revision, { nowMs: view.nowMs, nodes });
}
