/** What is kept on disk of a CSI volume, in upstream's format: enough to unmount it when its Pod and its objects are gone. */
import { attachmentName } from "../../../api/storage.k8s.io/v1/volume-attachment/attachment-name.ts";
import type { Mounter } from "../framework/mounter.ts";
import { PARENT_MODE } from "../framework/volume-directory.ts";
import type { PodVolume, VolumeNode } from "../framework/volume-plugin.ts";
import { VOLUME_DATA_FILE } from "./csi-paths.ts";
import type { CsiPodVolume } from "./csi-volume.ts";

export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  /** Of a Pod's volume. */
  readonly specVolID?: string;
  readonly nodeName?: string;
  readonly attachmentID?: string;
  readonly volumeLifecycleMode?: "Persistent" | "Ephemeral";
}

export function podVolumeData(
  { volumeName, isBlockDevice }: PodVolume,
  { driver, handle, mode }: CsiPodVolume,
  node: VolumeNode,
): VolumeData {
  const { nodeName } = node;
  return {
    specVolID: volumeName,
    volumeHandle: handle,
    driverName: driver.name,
    nodeName,
    attachmentID: attachmentName({ handle, driver: driver.name }, nodeName),
    ...(isBlockDevice ? {} : { volumeLifecycleMode: mode }),
  };
}

/** A block device has one record, for its staging and for all Pods. */
export function stagedVolumeData(volume: PodVolume, resolved: CsiPodVolume, node: VolumeNode): VolumeData {
  if (volume.isBlockDevice) return podVolumeData(volume, resolved, node);
  return { volumeHandle: resolved.handle, driverName: resolved.driver.name };
}

export async function saveVolumeData(directory: string, data: VolumeData, mounter: Mounter): Promise<void> {
  await mounter.makeDirectories(directory, PARENT_MODE);
  await mounter.writeText(`${directory}/${VOLUME_DATA_FILE}`, `${JSON.stringify(data)}\n`);
}

/** Undefined if nothing was saved: then no driver was called. Rejects if the file is damaged. */
export async function loadVolumeData(directory: string, mounter: Mounter): Promise<VolumeData | undefined> {
  const path = `${directory}/${VOLUME_DATA_FILE}`;
  const text = await mounter.readText(path);
  if (text === undefined) return undefined;
  try {
    const { driverName, volumeHandle, ...data } = JSON.parse(text) as Partial<VolumeData>;
    if (typeof driverName === "string" && typeof volumeHandle === "string") return { driverName, volumeHandle, ...data };
  } catch {
    // Reported below.
  }
  throw new Error(
    `kubernetes.io/csi: failed to parse volume data file [${path}]: it names no driver and no volume; unmount the volume by hand and remove the file`,
  );
}

/** Removes the file, and its directory if nothing else is in it. */
export async function removeVolumeData(directory: string, mounter: Mounter): Promise<void> {
  await mounter.removeFile(`${directory}/${VOLUME_DATA_FILE}`);
  await mounter.removeEmpty(directory);
}
