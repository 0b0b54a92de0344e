/** The directories that volumes are set up in: open to all users of their Pod, on the disk or in memory. What is there already stays. */
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import type { Pod } from "../../../api/generated/core/v1.ts";
import type { Logger } from "../../../base/logger.ts";
import { joinPath } from "../../../host/files/files.ts";
import { beginsFileSystem } from "../../../host/kernel/mount-table.ts";
import { mountMemory } from "../../../host/kernel/mounts.ts";
import { giveToGroup, makeDirectories } from "../../../host/files/shared-directory.ts";
import { modeForGroup } from "../../volumes/framework/file-rights.ts";
import { memoryBytes } from "../../volumes/framework/volume-kind.ts";
import { PARENT_MODE } from "./pod-directories.ts";

/** Containers run as any user. */
const VOLUME_MODE = 0o777;

export async function makePlace(path: string): Promise<void> {
  await makeDirectories(joinPath(path, ".."), PARENT_MODE);
  await makeDirectories(path, VOLUME_MODE);
}

export interface MemoryPlace {
  readonly pod: Pod;
  readonly nodeAllocatable: ResourceList;
  readonly sizeLimit?: string;
}

/** Rejects if this process may not mount. */
export async function makeMemoryPlace(path: string, { pod, nodeAllocatable, sizeLimit }: MemoryPlace): Promise<void> {
  await makePlace(path);
  if (await beginsFileSystem(path)) return;
  const sizeBytes = memoryBytes(pod, nodeAllocatable, sizeLimit);
  await mountMemory(path, sizeBytes === undefined ? {} : { sizeBytes });
}

/** For what should be in memory and can do without: nobody but root comes to the directory by its path. */
export async function makeMemoryPlaceIfAllowed(path: string, place: MemoryPlace, log: Logger): Promise<void> {
  try {
    await makeMemoryPlace(path, place);
  } catch (error) {
    log.warn("Cannot keep a volume in memory; it is on the disk", { path, error });
  }
}

/** Gives the volume to the Pod's group, if it has one. */
export async function giveToPodGroup(path: string, { spec }: Pod, { isReadOnly }: { readonly isReadOnly: boolean }): Promise<void> {
  const groupId = spec?.securityContext?.fsGroup;
  if (groupId === undefined) return;
  await giveToGroup(path, groupId, (mode, { isDirectory }) => modeForGroup(mode, { isDirectory, isReadOnly }));
}
