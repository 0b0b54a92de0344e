/**
 * Adds the cluster's context to the user's kubeconfig at start, and removes it from all kubeconfigs when the cluster is deleted. The
 * location is recorded first, so that it is known even if this process is killed in between. Not here: changing the file
 * (user-kubeconfig.ts), the change (merge-kubeconfig.ts).
 */
import { readFile, realpath } from "node:fs/promises";
import type { Clock } from "../../base/clock.ts";
import type { Environment } from "../../cli/framework/command.ts";
import type { ClusterHome } from "../home/cluster-home.ts";
import { CONTEXT_LOCATIONS_MAX, readContextLocations, recordContextLocation } from "./context-locations.ts";
import { changeKubeconfig, fileToWrite, kubectlFiles } from "./user-kubeconfig.ts";
import type { Owner } from "./kubeconfig-owner.ts";
import { mergeEntry, removeEntry, type KubeconfigEntry } from "./merge-kubeconfig.ts";
import { explainFileError } from "../home/start-errors.ts";

export interface AddedContext {
  readonly kubeconfig: string;
  /** Context name. */
  readonly context: string;
  /** True if kubectl uses it by default. */
  readonly isFoundByKubectl: boolean;
  readonly warnings: readonly string[];
}

export interface AddContextOptions {
  /** Candidates; the file is chosen as kubectl does. */
  readonly files: readonly string[];
  readonly entry: Omit<KubeconfigEntry, "context" | "directory">;
  readonly environment: Environment;
  readonly clock: Clock;
}

/** Rejects with a message for the user; then nothing is changed. */
export async function addContext(home: ClusterHome, { files, entry, environment, clock }: AddContextOptions): Promise<AddedContext> {
  const kubeconfig = await fileToWrite(files);
  const together = kubectlFiles(environment);
  const isFoundByKubectl = kubeconfig === (await fileToWrite(together));
  const others = together.includes(kubeconfig) ? together.filter((path) => path !== kubeconfig) : [];
  const forgotten = await recordContextLocation(home, kubeconfig);
  const full = { ...entry, context: home.context, directory: await directoryOf(home) };
  let context = home.context;
  await changeKubeconfig(kubeconfig, clock, async (text) => {
    const merged = mergeEntry(text, full, await textsOf(others));
    context = merged.context;
    return merged.text;
  });
  return { kubeconfig, context, isFoundByKubectl, warnings: forgotten.map(forgottenText) };
}

function forgottenText(path: string): string {
  return (
    `${path} contains this cluster's context from an earlier start, which k8ts reset will not remove: ` +
    `only ${CONTEXT_LOCATIONS_MAX} such files are tracked`
  );
}

export interface RemovedContexts {
  readonly takenOut: readonly { readonly kubeconfig: string; readonly contexts: readonly string[] }[];
  /** One message per file that could not be changed. */
  readonly problems: readonly string[];
}

/** Removes it from every recorded kubeconfig that still exists. */
export async function removeContexts(home: ClusterHome, clock: Clock): Promise<RemovedContexts> {
  const authority = authorityIn((await textOf(home.kubeconfig)) ?? "{}");
  const owner: Owner = { context: home.context, directory: await directoryOf(home), ...(authority === undefined ? {} : { authority }) };
  const takenOut: { kubeconfig: string; contexts: readonly string[] }[] = [];
  const problems: string[] = [];
  for (const kubeconfig of await readContextLocations(home)) {
    try {
      const contexts = await takeOutOf(kubeconfig, owner, clock);
      if (contexts !== undefined) takenOut.push({ kubeconfig, contexts });
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return { takenOut, problems };
}

/** Names of the removed contexts; undefined if there were none. */
async function takeOutOf(path: string, owner: Owner, clock: Clock): Promise<readonly string[] | undefined> {
  const text = await textOf(path).catch((error: unknown) => {
    throw explainFileError(error, { action: `change ${path}`, flag: "--kubeconfig" });
  });
  if (text === undefined) return undefined;
  let contexts: readonly string[] = [];
  const isChanged = await changeKubeconfig(path, clock, (now) => {
    const left = removeEntry(now, owner);
    contexts = left?.contexts ?? [];
    return left?.text;
  });
  return isChanged ? contexts : undefined;
}

/** After resolving symbolic links. */
async function directoryOf({ directory }: ClusterHome): Promise<string> {
  return realpath(directory);
}

/** The readable ones: kubectl reports problems of the others. */
async function textsOf(paths: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")));
  return texts.filter((text) => text !== "");
}

/** Undefined if the file does not exist. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code ?? "")) return undefined;
    throw error;
  });
}

/** PEM, from a kubeconfig that k8ts wrote as JSON. */
function authorityIn(kubeconfig: string): string | undefined {
  try {
    const { clusters } = JSON.parse(kubeconfig) as { clusters?: { cluster: Record<string, string> }[] };
    const data = clusters?.[0]?.cluster["certificate-authority-data"];
    return data === undefined ? undefined : Buffer.from(data, "base64").toString();
  } catch {
    return undefined; // The file was changed.
  }
}
