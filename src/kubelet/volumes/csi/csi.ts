/**
 * csi: volumes of a storage driver that runs on the node, persistent or inline. The driver stages a volume once per node, publishes it to
 * each Pod, and undoes both; here is the order, what is kept on disk for that (volume-data.ts), and whose the files are. Each call is
 * recorded before it is sent, so that a volume whose outcome is unknown is unpublished and unstaged, too.
 * SELinux labels are left to the runtime: `seLinuxMount` of a driver has no effect on a node without SELinux.
 */
import type { CsiVolumeStats } from "../../../csi/contract.ts";
import { isFinalCsiError } from "../../../csi/csi-error.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import { isReady, markReady, PARENT_MODE, setPodGroup, unmarkReady } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeLocation, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";
import { PREFIX, registeredDriver } from "./csi-driver.ts";
import { blockDirectory, publishTarget } from "./csi-paths.ts";
import { expandCsiVolume } from "./csi-expand.ts";
import { csiStaging } from "./csi-staging.ts";
import { resolveCsiVolume, type CsiPodVolume } from "./csi-volume.ts";
import { loadVolumeData, podVolumeData, removeVolumeData, saveVolumeData } from "./volume-data.ts";

export const csi: VolumePlugin<CsiPodVolume> = {
  source: "csi",
  persistentSource: "csi",
  directory: "kubernetes.io~csi",
  staging: csiStaging,

  resolve: resolveCsiVolume,

  async mount(volume, resolved, node) {
    const { mounter } = node;
    const target = publishTarget(volume, node.pluginsDirectory);
    if (!volume.isBlockDevice) await saveVolumeData(volume.path, podVolumeData(volume, resolved, node), mounter);
    await mounter.makeDirectories(parentOf(target), PARENT_MODE);
    await publish(volume, resolved, node).catch(async (error: unknown) => {
      if (isFinalCsiError(error) && !volume.isBlockDevice) await forgetPublished(volume, target, node);
      throw error;
    });
    if (volume.isBlockDevice) {
      await mounter.makeDirectories(parentOf(volume.path), PARENT_MODE);
      await mounter.link(volume.path, target);
    } else if (resolved.setsGroup) {
      await setPodGroup(target, volume, { isReadOnly: resolved.isReadOnly, node, usesChangePolicy: true });
    }
    await markReady(volume, mounter);
    return mountedAt(target, volume);
  },

  async refresh(volume, resolved, node) {
    if (resolved.requiresRepublish) await publish(volume, resolved, node);
  },

  expand: expandCsiVolume,

  async usage(volume, { path }, node) {
    const data = await loadVolumeData(dataDirectory(volume, node), node.mounter);
    const driver = data && node.csi.driver(data.driverName);
    if (data === undefined || driver === undefined) return undefined;
    const capabilities = await driver.nodeGetCapabilities();
    if (!capabilities.has("GET_VOLUME_STATS")) return undefined;
    const stats = await driver.nodeGetVolumeStats({ volumeId: data.volumeHandle, volumePath: path, stagingTargetPath: "" });
    return reportOf(stats, capabilities.has("VOLUME_CONDITION"));
  },

  async unmount(location, node) {
    const { mounter } = node;
    const directory = dataDirectory(location, node);
    const data = await loadVolumeData(directory, mounter);
    await unmarkReady(location, mounter);
    if (data === undefined) return;
    const target = publishTarget(location, node.pluginsDirectory);
    const driver = registeredDriver(node, data.driverName, location.isBlockDevice ? "blockMapper.UnmapPodDevice" : "Unmounter.TearDownAt");
    try {
      await driver.nodeUnpublishVolume({ volumeId: data.volumeHandle, targetPath: target });
    } catch (error) {
      const step = location.isBlockDevice ? "blockMapper.unpublishVolumeForBlock" : "Unmounter.TearDownAt";
      throw new VolumeError(`${PREFIX}${step} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
    if (location.isBlockDevice) {
      await mounter.removeEmpty(location.path);
      return; // What all Pods share is removed with the staged volume.
    }
    // The driver removes the target, by the specification; some do not.
    if (await mounter.isMountedAt(target)) return;
    await mounter.removeEmpty(target);
    await removeVolumeData(directory, mounter);
  },

  /** A driver that does not mount anything is called again: whether its files are complete is not known. */
  async reconstruct(volume, node) {
    const { mounter } = node;
    const target = publishTarget(volume, node.pluginsDirectory);
    if (!(await isReady(volume, mounter)) || !(await mounter.isMountedAt(target))) return undefined;
    return mountedAt(target, volume);
  },
};

async function publish(volume: PodVolume, resolved: CsiPodVolume, node: VolumeNode): Promise<void> {
  const { driver, handle, publishContext, capability, isReadOnly, publishSecrets, volumeContext, podContext } = resolved;
  await driver.nodePublishVolume({
    volumeId: handle,
    publishContext,
    stagingTargetPath: resolved.capabilities.has("STAGE_UNSTAGE_VOLUME") ? (csiStaging.directory(volume, resolved, node) ?? "") : "",
    targetPath: publishTarget(volume, node.pluginsDirectory),
    capability,
    isReadOnly,
    secrets: publishSecrets,
    volumeContext: { ...volumeContext, ...podContext },
  });
}

/** After an answer that nothing was published: the driver is not called to undo it, as upstream. */
async function forgetPublished({ path }: PodVolume, target: string, { mounter }: VolumeNode): Promise<void> {
  if (await mounter.isMountedAt(target)) return;
  await mounter.removeEmpty(target);
  await removeVolumeData(path, mounter);
}

function dataDirectory({ isBlockDevice, volumeName, path }: VolumeLocation, { pluginsDirectory }: VolumeNode): string {
  return isBlockDevice ? `${blockDirectory(pluginsDirectory, volumeName)}/data` : path;
}

function mountedAt(path: string, { volume, persistent, isBlockDevice }: PodVolume) {
  const isReadOnly = persistent === undefined ? volume.csi?.readOnly === true : isReadOnlyClaim(volume);
  return { path, isReadOnly, isExternal: false, isEphemeral: false, ...(isBlockDevice ? ({ isBlockDevice: true } as const) : {}) };
}

function reportOf({ usage, condition }: CsiVolumeStats, hasCondition: boolean) {
  const bytes = usage.find(({ unit }) => unit === "BYTES");
  const inodes = usage.find(({ unit }) => unit === "INODES");
  if (bytes === undefined) return undefined;
  return {
    filesystem: {
      availableBytes: bytes.available,
      capacityBytes: bytes.total,
      usedBytes: bytes.used,
      ...(inodes === undefined ? {} : { inodes: inodes.total, inodesFree: inodes.available, inodesUsed: inodes.used }),
    },
    ...(hasCondition && condition !== undefined ? { condition } : {}),
  };
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
