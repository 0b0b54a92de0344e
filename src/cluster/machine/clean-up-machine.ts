/**
 * What a cluster that does not run any more has left on this machine outside of its files: processes, mounts, namespaces, links, rules.
 * Also after a `kill -9`. The cluster's data stays. May be repeated; the caller holds the home, so that nobody starts it meanwhile.
 */
import type { Clock } from "../../base/clock.ts";
import { fileExists } from "../../host/files/files.ts";
import { leftovers, removeLeftovers } from "../../kubelet/machine/containerd/leftovers.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { machinePaths } from "./container-paths.ts";
import { removeRuntimeDirectory } from "../home/runtime-directory.ts";

/** Resolves with what was removed, in words: "3 processes", "12 mounts". */
export async function cleanUpMachine(home: ClusterHome, clock: Clock): Promise<readonly string[]> {
  const { runtimeDirectory } = home;
  // Made at every start, and gone with the machine's run, as everything else that is looked for here.
  if (runtimeDirectory === undefined) return [];
  const found = (await hasRunContainers(home)) ? await removeContainers({ ...home, runtimeDirectory }, clock) : [];
  await removeRuntimeDirectory(runtimeDirectory);
  return found;
}

/**
 * Of a start that has failed or a cluster that has stopped: takes the directory for sockets away, if nothing of this cluster is on the
 * machine any more. What is, is found by it later (`k8ts down`).
 */
export async function removeIdleRuntimeDirectory(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): Promise<void> {
  const isIdle = !(await hasRunContainers(home)) || (await hasNothingLeft(home, clock));
  if (isIdle) await removeRuntimeDirectory(home.runtimeDirectory);
}

/** What cannot be looked for, by this user or without the programs for it, may be there. */
async function hasNothingLeft(home: ClusterHome & { readonly runtimeDirectory: string }, clock: Clock): Promise<boolean> {
  return leftovers(machinePaths(home, clock)).then(
    (found) => found.length === 0,
    () => false,
  );
}

/** Without any, the programs that would be asked for leftovers need not even be installed. */
export async function hasRunContainers({ containerdDirectory, cniDirectory, kubeletDirectory }: ClusterHome): Promise<boolean> {
  return (await Promise.all([containerdDirectory, cniDirectory, kubeletDirectory].map(fileExists))).includes(true);
}

/** What containers have left, which are killed if they still run. Resolves with what was removed, as above. */
export async function removeContainers(
  home: ClusterHome & { readonly runtimeDirectory: string },
  clock: Clock,
): Promise<readonly string[]> {
  const places = machinePaths(home, clock);
  const found = await leftovers(places);
  await removeLeftovers(places);
  return countedByKind(found.map(({ is }) => is));
}

/** "process", "process", "link" → "2 processes", "1 link" */
export function countedByKind(kinds: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts].map(([kind, count]) => `${count} ${count === 1 ? kind : `${kind}${kind.endsWith("s") ? "es" : "s"}`}`);
}
