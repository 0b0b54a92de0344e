/** Counts the volumes whose content a home has on disk, for the confirmation of its deletion. */
import { namesIn } from "../../host/files/shared-directory.ts";
import { storedVolumes } from "../../localpath/disk/stored-volumes.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { homePaths } from "../home/home-paths.ts";
import { nodeHome } from "../nodes/node-files.ts";

/** With those of further nodes of the cluster on this machine. */
export async function countVolumes(home: Pick<ClusterHome, "volumesDirectory" | "nodesDirectory">): Promise<number> {
  const nodeNames = await namesIn(home.nodesDirectory);
  const directories = [home.volumesDirectory, ...nodeNames.map((name) => homePaths(nodeHome(home, name)).volumesDirectory)];
  const volumes = await Promise.all(directories.map((directory) => storedVolumes(directory).catch(() => [])));
  return volumes.flat().length;
}
