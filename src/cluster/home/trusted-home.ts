/**
 * Checks that a cluster's home was written by this user or root before anything in it is used: the record has PIDs that are signalled and
 * sockets that are connected to, the kubeconfig is the administrator's, and the store is served.
 */
import { joinPath } from "../../host/files/files.ts";
import { checkTrustedEntries, UntrustedPathError } from "../../host/files/trusted-path.ts";
import type { Environment } from "../../cli/framework/command.ts";
import { homePaths, isOwnEntry } from "./home-paths.ts";

/** Rejects with UntrustedPathError. Missing entries are fine. Container data below kubelet/ and containerd/ is not checked. */
export async function checkTrustedHome(directory: string, environment: Environment): Promise<void> {
  const { runDirectory, pkiDirectory, cniDirectory } = homePaths(directory);
  const options = { userHome: environment["HOME"] };
  try {
    // Other files in it are not used.
    await checkTrustedEntries(directory, { ...options, includes: isOwnEntry }).catch(ifMissing);
    for (const each of [runDirectory, pkiDirectory, joinPath(pkiDirectory, "kubeconfigs"), cniDirectory])
      await checkTrustedEntries(each, options).catch(ifMissing);
  } catch (error) {
    if (!(error instanceof UntrustedPathError)) throw error;
    const remedy = `${error.remedy}, or choose another directory with --data-dir`;
    throw new UntrustedPathError(directory, { why: error.why.replace(/^it /, `${error.path} `), remedy });
  }
}

function ifMissing(error: unknown): void {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
}
