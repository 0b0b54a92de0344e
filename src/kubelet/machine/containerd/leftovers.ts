/**
 * Everything besides plain files that a cluster's own containerd and its Pods have on this machine: processes, mounts, network namespaces,
 * links, iptables rules, control groups. Listed from the machine itself, so that it also works when containerd is dead and its shims, or
 * only their containers, still run. `removeLeftovers` terminates and removes all of it; both are idempotent. Not here: graceful termination
 * of Pods, which is the kubelet's, and the cluster's data.
 */
import type { Clock } from "../../../base/clock.ts";
import { cgroupDirectories, cgroupProcesses, removeCgroup, thawCgroup } from "../../../host/kernel/cgroup-tree.ts";
import { killProcesses } from "../../../host/processes/detached-program.ts";
import { removeFile } from "../../../host/files/files.ts";
import { mountsUnder } from "../../../host/kernel/mount-table.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import type { ProcessMark } from "../../../host/processes/process-identity.ts";
import { removeTree } from "../../../host/files/shared-directory.ts";
import { networkLeftovers, removeNetwork } from "../network/bridge-network.ts";
import { ownResults } from "./cni-records.ts";
import { containerdFiles, findOwnContainerd } from "./own-containerd.ts";
import { findBundles, findShims, type Bundle } from "./shims.ts";

export interface ClusterPlaces {
  /** Directories of own-containerd.ts. */
  readonly directory: string;
  readonly runDirectory: string;
  readonly cniConfigDirectory: string;
  readonly bridge: string;
  readonly addressDirectory: string;
  /** Mount point of volumes. */
  readonly volumesDirectory?: string;
  /** Control groups of this cluster alone, with their descendants: "/kubepods-x". */
  readonly cgroups?: readonly string[];
  readonly clock: Clock;
}

export interface Leftover {
  readonly is: "process" | "mount" | "network namespace" | "link" | "rule" | "cgroup" | "socket" | "file";
  readonly name: string;
}

export async function leftovers(places: ClusterPlaces): Promise<readonly Leftover[]> {
  const bundles = await findBundles(containerdFiles(places));
  const [processes, mounts, cgroups, network, results] = await Promise.all([
    ownProcesses(places, bundles),
    ownMounts(places),
    ownCgroups(places, bundles),
    networkLeftovers(places.bridge),
    ownResults(places),
  ]);
  return [
    ...processes.map(({ pid, what }) => ({ is: "process" as const, name: `${pid} (${what})` })),
    ...mounts.map(({ path, fileSystem }) => ({
      is: fileSystem === "nsfs" ? ("network namespace" as const) : ("mount" as const),
      name: path,
    })),
    ...network.links.map((name) => ({ is: "link" as const, name })),
    ...network.rules.map(({ table, rule }) => ({ is: "rule" as const, name: `${table}: ${rule}` })),
    ...cgroups.map((name) => ({ is: "cgroup" as const, name })),
    ...bundles.flatMap(({ socket }) => (socket === undefined ? [] : [{ is: "socket" as const, name: socket }])),
    ...results.map((name) => ({ is: "file" as const, name })),
  ];
}

/**
 * Terminates containerd first, so that it starts nothing new; then the remaining processes; then releases their resources. A failure does
 * not stop the rest: it is thrown at the end, and the files by which the remainder is found again are kept.
 */
export async function removeLeftovers(places: ClusterPlaces): Promise<void> {
  const files = containerdFiles(places);
  const containerd = await findOwnContainerd(places);
  if (containerd !== undefined) await killProcesses([containerd], places.clock);
  const bundles = await findBundles(containerdFiles(places));
  const problems: Error[] = [];
  const attempt = async (removal: Promise<void>) => removal.catch((error: unknown) => void problems.push(error as Error));
  await attempt(killAll(places, bundles));
  for (const directory of [places.runDirectory, places.directory, ...optional(places.volumesDirectory)])
    await attempt(unmountUnder(directory));
  await attempt(removeNetwork({ ...places, configDirectory: places.cniConfigDirectory }));
  for (const path of await ownResults(places)) await attempt(removeFile(path));
  for (const path of groupsOf(places, bundles)) await attempt(removeCgroup(path));
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"), { cause: problems[0] });
  for (const { socket } of bundles) if (socket !== undefined) await removeFile(socket);
  await removeFile(files.process);
  await removeTree(places.runDirectory);
}

function groupsOf(places: ClusterPlaces, bundles: readonly Bundle[]): readonly string[] {
  return [...bundles.flatMap(({ cgroup }) => optional(cgroup)), ...(places.cgroups ?? [])];
}

interface OwnProcess extends ProcessMark {
  readonly what: string;
}

/** Shims are identified by the address of their containerd; containers by their control groups. */
async function ownProcesses(places: ClusterPlaces, bundles: readonly Bundle[]): Promise<readonly OwnProcess[]> {
  const containerd = await findOwnContainerd(places);
  const shims = await findShims(containerdFiles(places));
  const inGroups = (await Promise.all(groupsOf(places, bundles).map(cgroupProcesses))).flat();
  const all = [
    ...(containerd === undefined ? [] : [{ ...containerd, what: "containerd" }]),
    ...shims.map(({ pid, started, id }) => ({ pid, started, what: `shim of ${id}` })),
    ...inGroups.map((mark) => ({ ...mark, what: "in a container" })),
  ];
  return [...new Map(all.toReversed().map((one) => [one.pid, one])).values()].toReversed();
}

/** Until none is left: a process that is just being started appears only after its parent was found. */
async function killAll(places: ClusterPlaces, bundles: readonly Bundle[]): Promise<void> {
  for (;;) {
    const processes = await ownProcesses(places, bundles);
    if (processes.length === 0) return;
    for (const path of groupsOf(places, bundles)) await thawCgroup(path);
    await killProcesses(processes, places.clock);
  }
}

async function ownMounts(places: ClusterPlaces) {
  const directories = [places.runDirectory, places.directory, ...optional(places.volumesDirectory)];
  return (await Promise.all(directories.map(mountsUnder))).flat();
}

async function ownCgroups(places: ClusterPlaces, bundles: readonly Bundle[]): Promise<readonly string[]> {
  return (await Promise.all(groupsOf(places, bundles).map(cgroupDirectories))).flat();
}

function optional<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}
