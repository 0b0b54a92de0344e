/** Where a cluster's containers, volumes and network have their things on this machine, for who starts them and for who removes them. */
import type { Clock } from "../../base/clock.ts";
import { joinPath } from "../../host/files.ts";
import type { ClusterPlaces } from "../../kubelet/machine/containerd/leftovers.ts";
import { bridgeName } from "../../kubelet/machine/network/bridge-network.ts";
import type { ClusterHome } from "./cluster-home.ts";

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

export function machinePlaces(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): ClusterPlaces {
  return {
    directory: home.containerdDirectory,
    runDirectory: joinPath(home.runtimeDirectory, "containerd"),
    cniConfigDirectory: joinPath(home.cniDirectory, "conf"),
    bridge: bridgeName(home),
    addressDirectory: joinPath(home.cniDirectory, "addresses"),
    volumesDirectory: home.kubeletDirectory,
    cgroups: [machineCgroup(home)],
    clock,
  };
}
