/**
 * A part of a volume as a mount of its own. Whoever writes to the volume may put links there that lead to other places of the machine,
 * also between our look and the runtime's: so the part is opened without following any, and what is open is mounted at a path of our own,
 * which is what the runtime is given. What went wrong is logged; the user is told no more than upstream tells, since it could say what is
 * on the machine.
 */
import type { Logger } from "../../../base/logger.ts";
import { joinPath } from "../../../host/files/files.ts";
import { mountsUnder } from "../../../host/kernel/mount-table.ts";
import { mountOpenFile, unmountUnder } from "../../../host/kernel/mounts.ts";
import { openWithin } from "../../../host/files/open-within.ts";
import { fileIdentity, makeDirectories, modeOf, touchFile } from "../../../host/files/shared-directory.ts";
import { ContainerConfigError } from "../../contracts/pod-machine.ts";
import { PARENT_MODE } from "../../volumes/framework/volume-directory.ts";

const TARGET_FILE_MODE = 0o640;

export interface SubPath {
  readonly container: string;
  readonly volume: string;
  readonly volumePath: string;
  /** Within the volume. */
  readonly path: string;
  /** Where it is to be shown. */
  readonly target: string;
}

/** Throws if it is no path within a volume. */
export function checkSubPath(path: string): void {
  if (path.startsWith("/")) throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes("..")) throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
}

/** Resolves with the path that the container is given. A directory that is missing is made, with the rights of the volume. */
export async function mountSubPath(subPath: SubPath, log: Logger): Promise<string> {
  const { container, volume, target } = subPath;
  try {
    return await mountAt(subPath);
  } catch (error) {
    log.warn("Cannot mount a part of a volume", { container, volume, target, error });
    throw new ContainerConfigError(`failed to prepare subPath for volumeMount "${volume}" of container "${container}"`, { cause: error });
  }
}

async function mountAt({ volumePath, path, target }: SubPath): Promise<string> {
  const opened = await openWithin(volumePath, path, await modeOf(volumePath));
  try {
    const found = await opened.stat();
    if ((await mountsUnder(target)).length > 0) {
      const shown = await fileIdentity(target);
      if (shown.device === found.dev && shown.inode === found.ino) return target;
      await unmountUnder(target);
    }
    await makeDirectories(joinPath(target, ".."), PARENT_MODE);
    if (found.isDirectory()) await makeDirectories(target, PARENT_MODE);
    else await touchFile(target, TARGET_FILE_MODE);
    await mountOpenFile(opened.fd, target);
    return target;
  } finally {
    await opened.close();
  }
}
