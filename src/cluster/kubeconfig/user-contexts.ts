/**
 * The cluster's context in the user's kubeconfigs: put there when it starts, and taken out of all of them when it is deleted. Where it was
 * put is remembered before it is, so that it is found also if this process is killed in between.
 * Not here: how such a file is changed (user-kubeconfig.ts), what is changed in it (merge-kubeconfig.ts).
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
  /** What it is called there. */
  readonly context: string;
  /** Whether kubectl uses it if nothing else is said. */
  readonly isFoundByKubectl: boolean;
  readonly warnings: readonly string[];
}

export interface AddContextOptions {
  /** Into one of these, as kubectl chooses. */
  readonly files: readonly string[];
  readonly entry: Omit<KubeconfigEntry, "context" | "directory">;
  readonly environment: Environment;
  readonly clock: Clock;
}

/** Rejects with one sentence, and then nothing is changed. */
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
  /** A sentence for each file that could not be changed. */
  readonly problems: readonly string[];
}

/** Out of every kubeconfig that it was put into and that is still there. */
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

/** The names of the contexts; undefined if nothing was taken out. */
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

/** By whatever links it is reached. */
async function directoryOf({ directory }: ClusterHome): Promise<string> {
  return realpath(directory);
}

/** Those that can be read: kubectl says what is wrong with the others. */
async function textsOf(paths: readonly string[]): Promise<readonly string[]> {
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8").catch(() => "")));
  return texts.filter((text) => text !== "");
}

/** Undefined if there is no such file. */
async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code ?? "")) return undefined;
    throw error;
  });
}

/** PEM, of a kubeconfig that k8ts wrote, which is JSON. */
function authorityIn(kubeconfig: string): string | undefined {
  try {
    const { clusters } = JSON.parse(kubeconfig) as { clusters?: { cluster: Record<string, string> }[] };
    const data = clusters?.[0]?.cluster["certificate-authority-data"];
    return data === undefined ? undefined : Buffer.from(data, "base64").toString();
  } catch {
    return undefined; // Somebody has changed it.
  }
}
