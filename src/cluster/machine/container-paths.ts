/** Paths and names of a cluster's containers, volumes and network on this machine, for starting and for cleanup. */
import type { Clock } from "../../base/clock.ts";
import { joinPath } from "../../host/files/files.ts";
import type { ClusterPlaces } from "../../kubelet/machine/containerd/leftovers.ts";
import { bridgeName } from "../../kubelet/machine/network/bridge-network.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { homePaths } from "../home/home-paths.ts";

/** Unique, stable identifier of this cluster on this machine. */
export function machineOwner(home: Pick<ClusterHome, "name" | "directory">): string {
  return bridgeName(home);
}

/** The same for names in the kernel that must be short: the hash at the end of the bridge's name. */
export function kernelOwner(home: Pick<ClusterHome, "name" | "directory">): string {
  return bridgeName(home).split("-").at(-1) ?? "";
}

/** Parent cgroup of all Pods of the cluster. */
export function machineCgroup(home: Pick<ClusterHome, "name" | "directory">): string {
  return `/${machineOwner(home)}`;
}

/** Records the endpoint of a container runtime that k8ts does not manage and that has state of the cluster. */
export function foreignRuntimeFile({ kubeletDirectory }: Pick<ClusterHome, "kubeletDirectory">): string {
  return joinPath(kubeletDirectory, "runtime-endpoint");
}

/** Records the CNI directory of such a runtime while the cluster's configuration is in it. */
export function foreignConfigFile({ cniDirectory }: Pick<ClusterHome, "cniDirectory">): string {
  return joinPath(cniDirectory, "runtime-config-directory");
}

/** Known also after a reboot, when the runtime directory is gone. */
export function networkPaths(home: Pick<ClusterHome, "name" | "directory" | "cniDirectory">) {
  return {
    cniConfigDirectory: joinPath(home.cniDirectory, "conf"),
    bridge: bridgeName(home),
    addressDirectory: joinPath(home.cniDirectory, "addresses"),
  };
}

/** The home whose Pod addresses are allocated there; undefined if none. */
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
