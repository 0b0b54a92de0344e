/** Mounts the file system of a block device and creates it on an empty one, with upstream's messages. A device with contents is never formatted. */
import { PARENT_MODE } from "./volume-directory.ts";
import type { Mounter, MountOptions } from "./mounter.ts";
import { VolumeError } from "./volume-error.ts";

const FILE_SYSTEM_DEFAULT = "ext4";

export interface DeviceFileSystem {
  readonly device: string;
  /** Created if missing. */
  readonly path: string;
  /** "" or absent: that of the device, or ext4 for an empty one. */
  readonly fileSystem?: string | undefined;
  readonly options: MountOptions;
  readonly isReadOnly: boolean;
  /** The device was enlarged: its file system is grown before it is mounted, where that is possible. */
  readonly isToGrow?: boolean;
}

/** Does nothing if the path is a mount point. */
export async function formatAndMount(wanted: DeviceFileSystem, mounter: Mounter): Promise<void> {
  const { device, path, options, isReadOnly } = wanted;
  await mounter.makeDirectories(path, PARENT_MODE);
  if (await mounter.isMountedAt(path)) return;
  const existing = await mounter.fileSystemOn(device);
  const wish = wanted.fileSystem ?? "";
  const fileSystem = wish === "" ? (existing ?? FILE_SYSTEM_DEFAULT) : wish;
  if (existing !== undefined && !isReadOnly) await mounter.repair(device);
  if (existing !== undefined && !isReadOnly && wanted.isToGrow === true) await mounter.growUnmounted(device);
  if (existing === undefined) {
    if (isReadOnly) throw new VolumeError(`cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`);
    await mounter.format(device, fileSystem);
  }
  try {
    await mounter.mountDevice({ device, path, fileSystem, options: [...(isReadOnly ? ["ro"] : []), "defaults", ...options] });
  } catch (error) {
    if (existing === undefined || existing === fileSystem) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new VolumeError(`failed to mount the volume as "${fileSystem}", it already contains ${existing}. Mount error: ${why}`, {
      cause: error,
    });
  }
}
