/** emptyDir volumes: made once, on the disk or in memory; from then on what is in them is the Pod's, also for a kubelet that starts anew. */
import type { EmptyDirVolumeSource, Pod } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { joinPath } from "../../../host/files/files.ts";
import { beginsFileSystem } from "../../../host/kernel/mount-table.ts";
import { fileKind, makeDirectories, touchFile } from "../../../host/files/shared-directory.ts";
import { VolumeError } from "../../volumes/framework/volume-file.ts";
import { PARENT_MODE } from "./pod-directories.ts";
import { giveToPodGroup, makeMemoryPlace, makePlace } from "./volume-place.ts";

const READY_FILE_MODE = 0o640;

export interface EmptyVolume {
  readonly pod: Pod;
  readonly source: EmptyDirVolumeSource;
  readonly path: string;
  readonly readyDirectory: string;
  readonly nodeAllocatable: ResourceList;
}

export async function setUpEmptyVolume(volume: EmptyVolume): Promise<void> {
  const { pod, source, path, readyDirectory, nodeAllocatable } = volume;
  const { medium = "", sizeLimit } = source;
  const readyFile = joinPath(readyDirectory, "ready");
  if ((await fileKind(readyFile)) === "file" && (await isThere(path, medium))) return;
  if (medium === "") await makePlace(path);
  else if (medium === "Memory") await makeMemoryPlace(path, { pod, nodeAllocatable, ...(sizeLimit === undefined ? {} : { sizeLimit }) });
  else if (medium.startsWith("HugePages")) throw new VolumeError(`storage medium "${medium}" is not supported by this version`);
  else throw new VolumeError(`unknown storage medium "${medium}"`);
  await giveToPodGroup(path, pod, { isReadOnly: false });
  await makeDirectories(readyDirectory, PARENT_MODE);
  await touchFile(readyFile, READY_FILE_MODE);
}

/** What was in memory is gone after the machine was started anew, though the directory is there. */
async function isThere(path: string, medium: string): Promise<boolean> {
  if ((await fileKind(path)) !== "directory") return false;
  return medium !== "Memory" || (await beginsFileSystem(path));
}
