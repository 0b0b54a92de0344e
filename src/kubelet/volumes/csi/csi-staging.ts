/**
 * The part of a persistent CSI volume that all Pods of a node share. A driver without the capability STAGE_UNSTAGE_VOLUME is not called, but
 * its volume is recorded like any other, so that the shared files are removed with the last Pod.
 */
import { isFinalCsiError } from "../../../csi/csi-error.ts";
import { FinalVolumeError, VolumeError } from "../framework/volume-error.ts";
import { PARENT_MODE } from "../framework/volume-directory.ts";
import type { VolumeNode, VolumeStaging } from "../framework/volume-plugin.ts";
import { PREFIX, registeredDriver, requiresAttachment } from "./csi-driver.ts";
import { blockDirectory, blockPublishDirectory, blockStaging, globalMount, stagedBlockVolume } from "./csi-paths.ts";
import type { CsiPodVolume } from "./csi-volume.ts";
import { loadVolumeData, removeVolumeData, saveVolumeData, stagedVolumeData } from "./volume-data.ts";

export const csiStaging: VolumeStaging<CsiPodVolume> = {
  volumeId({ persistent }) {
    const { driver = "", volumeHandle = "" } = persistent?.volume.spec?.csi ?? {};
    return `kubernetes.io/csi/${driver}^${volumeHandle}`;
  },

  async isAttachable({ persistent }, { references }, signal) {
    const source = persistent?.volume.spec?.csi;
    return source !== undefined && requiresAttachment(await references.csiDriver(source.driver, signal));
  },

  /** Inline volumes belong to one Pod and are not staged. */
  directory: ({ persistent, isBlockDevice, volumeName }, { driver, handle }, { pluginsDirectory }) => {
    if (persistent === undefined) return undefined;
    return isBlockDevice ? blockStaging(pluginsDirectory, volumeName) : globalMount(pluginsDirectory, driver.name, handle);
  },

  async stage({ volume, resolved, directory }, node) {
    const { driver, handle, publishContext, capability, stageSecrets, volumeContext } = resolved;
    await node.mounter.makeDirectories(directory, PARENT_MODE);
    await saveVolumeData(dataDirectory(directory, node), stagedVolumeData(volume, resolved, node), node.mounter);
    if (!resolved.capabilities.has("STAGE_UNSTAGE_VOLUME")) return;
    const request = { volumeId: handle, publishContext, stagingTargetPath: directory, capability, secrets: stageSecrets, volumeContext };
    await driver.nodeStageVolume(request).catch(ifFinal);
  },

  async forget(directory, node) {
    if (await node.mounter.isMountedAt(directory)) return;
    await node.mounter.removeEmpty(directory);
    await removeShared(directory, node);
  },

  async unstage(directory, node) {
    const { mounter } = node;
    const data = await loadVolumeData(dataDirectory(directory, node), mounter);
    if (data !== undefined) {
      const driver = registeredDriver(node, data.driverName, "attacher.UnmountDevice");
      await unstageWith(directory, async () => {
        if (!(await driver.nodeGetCapabilities()).has("STAGE_UNSTAGE_VOLUME")) return;
        await driver.nodeUnstageVolume({ volumeId: data.volumeHandle, stagingTargetPath: directory });
      });
    }
    if (await mounter.isMountedAt(directory)) {
      throw new VolumeError(`${PREFIX}attacher.UnmountDevice failed: ${directory} is still mounted after the driver unstaged it`);
    }
    await mounter.removeEmpty(directory);
    await removeShared(directory, node);
  },
};

/** Marks the failure of a call after which the driver has nothing to undo. */
export function ifFinal(error: unknown): never {
  if (isFinalCsiError(error)) throw new FinalVolumeError((error as Error).message, { cause: error });
  throw error;
}

async function unstageWith(directory: string, call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    const step = stagedBlockVolume(directory) === undefined ? "attacher.UnmountDevice" : "blockMapper.unstageVolumeForBlock";
    throw new VolumeError(`${PREFIX}${step} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The record goes last: without it the driver would not be called again. */
async function removeShared(directory: string, node: VolumeNode): Promise<void> {
  const { mounter, pluginsDirectory } = node;
  const blockVolume = stagedBlockVolume(directory);
  if (blockVolume !== undefined) await mounter.removeEmpty(blockPublishDirectory(pluginsDirectory, blockVolume));
  await removeVolumeData(dataDirectory(directory, node), mounter);
  if (blockVolume !== undefined) await mounter.removeEmpty(blockDirectory(pluginsDirectory, blockVolume));
}

function dataDirectory(directory: string, { pluginsDirectory }: VolumeNode): string {
  const blockVolume = stagedBlockVolume(directory);
  if (blockVolume !== undefined) return `${blockDirectory(pluginsDirectory, blockVolume)}/data`;
  return directory.slice(0, directory.lastIndexOf("/"));
}
