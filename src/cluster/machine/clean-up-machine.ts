/**
 * Removes what a stopped cluster left on this machine outside of its files: processes, mounts, namespaces, links, rules. Also after a `kill
 * -9`. The cluster's data is kept. Idempotent; the caller holds the lock of the home, so that the cluster cannot start meanwhile.
 */
import type { Clock } from "../../base/clock.ts";
import { silentLogger } from "../../base/logger.ts";
import { cleanUpNetworkComponents } from "../../components/network/start-network-components.ts";
import { ownNetworkNamespace } from "../../host/network/network-namespace.ts";
import { fileExists } from "../../host/files/files.ts";
import { detachVolumes } from "../../localpath/disk/detach-volumes.ts";
import { leftovers, removeLeftovers } from "../../kubelet/machine/containerd/leftovers.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { kernelOwner, machinePaths } from "./container-paths.ts";
import { removeRuntimeDirectory } from "../home/runtime-directory.ts";

/** Resolves with counts for output: "3 processes", "12 mounts". */
export async function cleanUpMachine(home: ClusterHome, clock: Clock): Promise<readonly string[]> {
  const { runtimeDirectory } = home;
  // Created at every start and removed by a reboot, like everything else that is looked for here.
  if (runtimeDirectory === undefined) return [];
  const found = (await hasRunContainers(home)) ? await removeContainers({ ...home, runtimeDirectory }, clock) : [];
  await removeRuntimeDirectory(runtimeDirectory);
  return found;
}

/**
 * After a failed start or a stop: removes the runtime directory if nothing of this cluster is left on the machine. Otherwise `k8ts down`
 * needs it to find the rest.
 */
export async function removeIdleRuntimeDirectory(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): Promise<void> {
  const isIdle = !(await hasRunContainers(home)) || (await hasNothingLeft(home, clock));
  if (isIdle) await removeRuntimeDirectory(home.runtimeDirectory);
}

/** If this cannot be determined, by this user or without the programs for it, something may be left. */
async function hasNothingLeft(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): Promise<boolean> {
  return leftovers(machinePaths(home, clock)).then(
    (found) => found.length === 0,
    () => false,
  );
}

/** Without any, the programs that look for leftovers need not be installed. */
export async function hasRunContainers({ containerdDirectory, cniDirectory, kubeletDirectory }: ClusterHome): Promise<boolean> {
  return (await Promise.all([containerdDirectory, cniDirectory, kubeletDirectory].map(fileExists))).includes(true);
}

/** Kills and removes the cluster's containers. Resolves with counts, as above. */
export async function removeContainers(
  home: ClusterHome & { readonly runtimeDirectory: string },
  clock: Clock,
): Promise<readonly string[]> {
  const places = machinePaths(home, clock);
  const found = await leftovers(places);
  await removeLeftovers(places);
  // After the mounts on them.
  const devices = await detachVolumes(home.volumesDirectory);
  await cleanUpNetworkComponents({ owner: kernelOwner(home), namespace: ownNetworkNamespace, log: silentLogger });
  return countedByKind([...found.map(({ is }) => is), ...devices.map(() => "loop device")]);
}

/** "process", "process", "link" → "2 processes", "1 link" */
export function countedByKind(kinds: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${count === 1 ? kind : `${kind}${kind.endsWith("s") ? "es" : "s"}`}`);
}
