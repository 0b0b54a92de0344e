/**
 * Mounts a subPath of a volume. A container that writes to the volume may place symbolic links to other paths of the machine, also between
 * our check and the runtime's mount: so the subPath is opened without following links, and the open file descriptor is mounted at a path of
 * our own, which the runtime gets. Failures are logged; the user sees only upstream's message, since more could reveal what is on the
 * machine.
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
  /** Relative to the volume. */
  readonly path: string;
  /** Mount point. */
  readonly target: string;
}

/** Throws if it is not a path within a volume. */
export function checkSubPath(path: string): void {
  if (path.startsWith("/")) throw new ContainerConfigError(`error SubPath \`${path}\` must not be an absolute path`);
  if (path.split("/").includes("..")) throw new ContainerConfigError(`unable to provision SubPath \`${path}\`: must not contain '..'`);
}

/** Resolves with the path for the container. A missing directory is created with the volume's mode. */
export async function mountSubPath(subPath: SubPath, log: Logger): Promise<string> {
  const { container, volume, target } = subPath;
  try {
    return await mountAt(subPath);
  } catch (error) {
    log.warn("Cannot mount a subPath", { container, volume, target, error });
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
