/**
 * local: a directory or block device of this node that a PersistentVolume names. A directory is bind-mounted for each Pod. The file system
 * of a device is mounted once for all Pods, created if the device is empty, and then bind-mounted; with `volumeMode: Block` containers get
 * the device itself. Paths and messages are upstream's. Data is never deleted here: that is the provisioner's.
 */
import { expansionDue } from "../framework/claim-expansion.ts";
import { bindVolume, linkDevice } from "../framework/bind-volume.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import { formatAndMount } from "../framework/device-file-system.ts";
import { isReady, markReady } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";

interface LocalVolume {
  readonly path: string;
  readonly isDevice: boolean;
  readonly fileSystem: string | undefined;
  readonly options: readonly string[];
}

export const local: VolumePlugin<LocalVolume> = {
  persistentSource: "local",
  directory: "kubernetes.io~local-volume",

  async resolve({ persistent, isBlockDevice }, { mounter }) {
    const { local: source, mountOptions = [] } = persistent?.volume.spec ?? {};
    const path = source?.path ?? "";
    if (path === "") throw new VolumeError("local volume source is nil or local path is not set");
    if (path.split("/").includes("..")) throw new VolumeError(`invalid path: ${path} must not contain '..'`);
    const kind = await mounter.fileKind(path);
    if (kind === undefined) throw new VolumeError(`path "${path}" does not exist`);
    if (isBlockDevice && kind !== "block-device") throw new VolumeError(`path "${path}" is not a block device`);
    if (kind !== "block-device" && kind !== "directory") throw new VolumeError("only directory and block device are supported");
    return { path, isDevice: kind === "block-device", fileSystem: source?.fsType, options: mountOptions };
  },

  staging: {
    volumeId: ({ volumeName }) => `kubernetes.io/local-volume/${volumeName}`,
    directory: (volume, { isDevice }, node) => (isDevice && !volume.isBlockDevice ? stagingDirectory(volume, node) : undefined),
    async stage({ volume, resolved: { path: device, fileSystem, options }, directory }, { mounter }) {
      const isToGrow = volume.persistent !== undefined && expansionDue(volume.persistent) !== undefined;
      const isReadOnly = isReadOnlyClaim(volume.volume);
      await formatAndMount({ device, path: directory, fileSystem, options, isReadOnly, isToGrow }, mounter);
    },
    async unstage(directory, { mounter }) {
      await mounter.unmount(directory);
      await mounter.removeEmpty(directory);
    },
  },

  async mount(volume, resolved, node) {
    const { mounter } = node;
    const { path, isDevice, options } = resolved;
    const from = isDevice ? stagingDirectory(volume, node) : path;
    if (volume.isBlockDevice) await linkDevice(volume, path, mounter);
    else await bindVolume(volume, { from, isReadOnly: isReadOnlyClaim(volume.volume), options }, node);
    await markReady(volume, mounter);
    return mountedAt(volume);
  },

  async expand(volume, { path, isDevice }, node) {
    if (isDevice && !volume.isBlockDevice) await node.mounter.growFileSystem(path, stagingDirectory(volume, node));
  },

  unmount: ({ path, isBlockDevice }, { mounter }) => (isBlockDevice ? Promise.resolve() : mounter.unmount(path)),

  async reconstruct(volume, { mounter }) {
    const { path, isBlockDevice } = volume;
    if (!(await isReady(volume, mounter))) return undefined;
    const isThere = isBlockDevice ? (await mounter.fileKind(path)) === "block-device" : await mounter.isMountedAt(path);
    return isThere ? mountedAt(volume) : undefined;
  },
};

function stagingDirectory({ volumeName }: PodVolume, { pluginsDirectory }: VolumeNode): string {
  return `${pluginsDirectory}/kubernetes.io/local-volume/mounts/${volumeName}`;
}

function mountedAt({ path, volume, isBlockDevice }: PodVolume) {
  const common = { path, isReadOnly: isReadOnlyClaim(volume), isExternal: false, isEphemeral: false };
  return isBlockDevice ? { ...common, isBlockDevice: true as const } : common;
}
