/**
 * Upstream's paths and names of CSI volumes, so that a node can change between kubelets:
 *
 *     pods/<pod uid>/volumes/kubernetes.io~csi/<name>/{vol_data.json,mount}           file system of a Pod
 *     plugins/kubernetes.io/csi/<driver>/<hash of handle>/{vol_data.json,globalmount}  staged file system
 *     plugins/kubernetes.io/csi/volumeDevices/<name>/data/vol_data.json                block device
 *     plugins/kubernetes.io/csi/volumeDevices/staging/<name>                           staged block device
 *     plugins/kubernetes.io/csi/volumeDevices/publish/<name>/<pod uid>                 block device of a Pod
 */
import { sha256Hex } from "../../../base/crypto/hash.ts";
import type { VolumeLocation } from "../framework/volume-plugin.ts";

export const VOLUME_DATA_FILE = "vol_data.json";

const PLUGIN = "kubernetes.io/csi";
const STAGING = "/volumeDevices/staging/";

/** "csi-<hash>": handle of an inline volume. */
export function inlineHandle(podUid: string, volumeName: string): string {
  return `csi-${hexOf(`${podUid}${volumeName}`)}`;
}

/** Where the driver mounts the file system, or puts the block device, for a Pod. */
export function publishTarget({ path, isBlockDevice, volumeName, podUid }: VolumeLocation, pluginsDirectory: string): string {
  return isBlockDevice ? `${blockPublishDirectory(pluginsDirectory, volumeName)}/${podUid}` : `${path}/mount`;
}

export function globalMount(pluginsDirectory: string, driver: string, handle: string): string {
  return `${pluginsDirectory}/${PLUGIN}/${driver}/${hexOf(handle)}/globalmount`;
}

export function blockStaging(pluginsDirectory: string, volumeName: string): string {
  return `${pluginsDirectory}/${PLUGIN}${STAGING}${volumeName}`;
}

export function blockPublishDirectory(pluginsDirectory: string, volumeName: string): string {
  return `${pluginsDirectory}/${PLUGIN}/volumeDevices/publish/${volumeName}`;
}

export function blockDirectory(pluginsDirectory: string, volumeName: string): string {
  return `${pluginsDirectory}/${PLUGIN}/volumeDevices/${volumeName}`;
}

/** Name of the block volume that is staged in a directory; undefined for a file system. */
export function stagedBlockVolume(directory: string): string | undefined {
  const at = directory.lastIndexOf(STAGING);
  return at < 0 ? undefined : directory.slice(at + STAGING.length);
}

function hexOf(text: string): string {
  return sha256Hex(new TextEncoder().encode(text)).toLowerCase();
}
