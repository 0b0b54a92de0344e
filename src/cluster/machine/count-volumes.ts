/** Counts the volumes whose content a home has on disk, for the confirmation of its deletion. */
import { namesIn } from "../../host/files/shared-directory.ts";
import { storedVolumes } from "../../localpath/disk/stored-volumes.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { homePaths } from "../home/home-paths.ts";
import { nodeHome } from "../nodes/node-files.ts";

/** With those of further nodes of the cluster on this machine. */
export async function countVolumes(home: Pick<ClusterHome, "volumesDirectory" | "nodesDirectory">): Promise<number> {
  const nodeNames = await namesIn(home.nodesDirectory);
  const counts = [countIn(home.volumesDirectory), ...nodeNames.map((name) => countVolumesOfNode(home, name))];
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Of a further node of the cluster on this machine; 0 if there is no such node. */
export function countVolumesOfNode(home: Pick<ClusterHome, "nodesDirectory">, nodeName: string): Promise<number> {
  return countIn(homePaths(nodeHome(home, nodeName)).volumesDirectory);
}

async function countIn(volumesDirectory: string): Promise<number> {
  return (await storedVolumes(volumesDirectory).catch(() => [])).length;
}
