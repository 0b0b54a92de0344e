/** Where a cluster's containers, volumes and network have their things on this machine, for who starts them and for who removes them. */
import type { Clock } from "../../base/clock.ts";
import { joinPath } from "../../host/files/files.ts";
import type { ClusterPlaces } from "../../kubelet/machine/containerd/leftovers.ts";
import { bridgeName } from "../../kubelet/machine/network/bridge-network.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { homePaths } from "../home/home-paths.ts";

/** What names this cluster on this machine: no other has it, and it stays the same. */
export function machineOwner(home: Pick<ClusterHome, "name" | "directory">): string {
  return bridgeName(home);
}

/** The control group that all Pods of the cluster are below. */
export function machineCgroup(home: Pick<ClusterHome, "name" | "directory">): string {
  return `/${machineOwner(home)}`;
}

/** Names the endpoint of a runtime that is not the cluster's own, and has something of it. */
export function foreignRuntimeFile({ kubeletDirectory }: Pick<ClusterHome, "kubeletDirectory">): string {
  return joinPath(kubeletDirectory, "runtime-endpoint");
}

/** Names the directory that such a runtime reads its network from, while the cluster's configuration is in it. */
export function foreignConfigFile({ cniDirectory }: Pick<ClusterHome, "cniDirectory">): string {
  return joinPath(cniDirectory, "runtime-config-directory");
}

/** Known also when the machine has been started anew, and the directory for sockets is gone. */
export function networkPaths(home: Pick<ClusterHome, "name" | "directory" | "cniDirectory">) {
  return {
    cniConfigDirectory: joinPath(home.cniDirectory, "conf"),
    bridge: bridgeName(home),
    addressDirectory: joinPath(home.cniDirectory, "addresses"),
  };
}

/** The home that has its addresses there; undefined if no home has. */
export function homeOfAddresses(addressDirectory: string): string | undefined {
  const directory = addressDirectory.split("/").slice(0, -2).join("/");
  return networkPaths({ ...homePaths(directory), name: "" }).addressDirectory === addressDirectory ? directory : undefined;
}

export function machinePaths(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): ClusterPlaces {
  return {
    directory: home.containerdDirectory,
    runDirectory: joinPath(home.runtimeDirectory, "containerd"),
    ...networkPaths(home),
    volumesDirectory: home.kubeletDirectory,
    cgroups: [machineCgroup(home)],
    clock,
  };
}
