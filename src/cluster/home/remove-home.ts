/**
 * Deletes a home: only files that k8ts creates, and nothing below a mount, which would be other files. The marker is deleted last, so that
 * an interrupted deletion can be repeated.
 */
import { readdir, rm, rmdir } from "node:fs/promises";
import { lockDirectory } from "../../host/files/directory-lock.ts";
import { joinPath } from "../../host/files/files.ts";
import { mountsUnder } from "../../host/kernel/mount-table.ts";
import type { ClusterHome } from "./cluster-home.ts";
import { isOwnEntry, MARKER_FILE } from "./home-paths.ts";
import { explainFileError } from "./start-errors.ts";

export interface RemoveHomeOptions {
  /** Empty if there are no other files. */
  readonly keepsDirectory?: boolean;
}

/** Resolves with the names of kept files, which k8ts did not create. */
export async function removeHome(
  { directory }: ClusterHome,
  { keepsDirectory = false }: RemoveHomeOptions = {},
): Promise<readonly string[]> {
  const mounts = (await mountsUnder(directory)).filter(({ path }) => path !== directory);
  const [first] = mounts;
  if (first !== undefined) {
    throw new Error(
      `Cannot delete ${directory}: it contains ${mounts.length === 1 ? "a mount" : `${mounts.length} mounts`}, such as ${first.path}; unmount it (umount ${first.path}) and try again`,
    );
  }
  const failed = { action: `delete ${directory}` };
  const attempt = await lockDirectory(directory).catch((error: unknown) => {
    throw explainFileError(error, failed);
  });
  if (!("lock" in attempt)) throw new Error(`Cannot delete ${directory}: ${attempt.heldBy} holds its lock; stop that process first`);
  try {
    const names = await readdir(directory);
    const own = names.filter((name) => isOwnEntry(name) && name !== MARKER_FILE);
    for (const name of [...own, MARKER_FILE]) await rm(joinPath(directory, name), { recursive: true, force: true });
    const left = names.filter((name) => !isOwnEntry(name));
    if (left.length === 0 && !keepsDirectory) await removeEmptied(directory);
    return left;
  } catch (error) {
    throw explainFileError(error, failed);
  } finally {
    await attempt.lock.release();
  }
}

/** A mount point cannot be removed. */
async function removeEmptied(directory: string): Promise<void> {
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (!["EBUSY", "ENOTEMPTY", "EACCES", "EPERM"].includes(error.code ?? "")) throw error;
  });
}
