/** Finds all clusters of this user on this machine: the named ones, and others that are running or left something on the machine. */
import { readdir } from "node:fs/promises";
import { joinPath } from "../../host/files/files.ts";
import { UntrustedPathError } from "../../host/files/trusted-path.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { findHome, type ClusterHome } from "./cluster-home.ts";
import { homesDirectory } from "./home-paths.ts";
import { findRunningProcess } from "./find-running-process.ts";
import { homesWithRuntime } from "./runtime-directory.ts";

/**
 * Sorted by name. Unreadable homes are skipped: commands that select them report why. Directories that another user could have written are
 * ignored, and reported to `onIgnored` with the reason.
 */
export async function knownHomes(
  environment: Environment,
  onIgnored: (problem: string) => void = () => {},
): Promise<readonly ClusterHome[]> {
  const ignore = (error: unknown): undefined => {
    if (error instanceof UntrustedPathError) onIgnored(error.message);
  };
  const running = (await homesWithRuntime(environment, ignore)).filter((directory) => !NODE_HOME.test(directory));
  const directories = new Set([...(await namedHomes(environment)), ...running]);
  const found = await Promise.all([...directories].map((directory) => findHome({ directory }, environment).catch(ignore)));
  return found.filter((home) => home !== undefined).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Nodes of a cluster on this machine have homes within the cluster's (nodes/node-files.ts). */
const NODE_HOME = /\/nodes\/[^/]+\/home$/;

/** The cluster that runs in this process, or one of whose components does. */
export async function clusterOfProcess(pid: number, environment: Environment): Promise<ClusterHome | undefined> {
  for (const home of await knownHomes(environment)) {
    const seen = await findRunningProcess(home).catch(() => undefined);
    const processes = [seen?.process, ...(seen?.record?.parts ?? []).map((part) => part.process)];
    if (processes.some((process) => process?.pid === pid)) return home;
  }
  return undefined;
}

async function namedHomes(environment: Environment): Promise<readonly string[]> {
  const homes = homesDirectory(environment);
  if (homes === undefined) return [];
  const names = await readdir(homes).catch(() => []);
  return names.map((name) => joinPath(homes, name));
}
