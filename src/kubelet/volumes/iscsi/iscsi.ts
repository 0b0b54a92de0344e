/**
 * iscsi: a logical unit of an iSCSI target, by the machine's own open-iscsi. Its file system is mounted once for all Pods, created if the
 * device is empty, and then bind-mounted; with `volumeMode: Block` containers get the device itself. Directories are upstream's. What is
 * needed to log out is recorded before the login, so that a killed kubelet leaves no session behind.
 */
import { bindVolume, linkDevice } from "../framework/bind-volume.ts";
import { formatAndMount } from "../framework/device-file-system.ts";
import type { Mounter } from "../framework/mounter.ts";
import { isReady, markReady, PARENT_MODE } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { PodVolume, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";
import { diskName, iscsiSource, resolveDisk, targetPrefix, type IscsiDisk, type ResolvedDisk } from "./iscsi-disk.ts";
import { attachDisk, detachDisk } from "./iscsi-sessions.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";

/** Upstream's name, in the directory of the disk. A mounted file system hides it. */
const RECORD = "iscsi.json";

interface DiskRecord {
  readonly disk: IscsiDisk;
  /** Absent until it is attached. */
  readonly device?: string;
}

export const iscsi: VolumePlugin<ResolvedDisk> = {
  source: "iscsi",
  persistentSource: "iscsi",
  directory: "kubernetes.io~iscsi",

  resolve: (volume, { references }, signal) => resolveDisk(volume, references, signal),

  staging: {
    volumeId(volume) {
      const { targetPortal = "", iqn = "", lun = 0 } = iscsiSource(volume) ?? {};
      return `kubernetes.io/iscsi/${targetPortal}:${iqn}:${lun}`;
    },
    directory: (volume, { disk }, node) => `${root(node, volume.isBlockDevice)}/iface-${disk.iface}/${diskName(disk)}`,
    async stage({ volume, resolved, directory }, node) {
      const { mounter } = node;
      if (await mounter.isMountedAt(directory)) return;
      await mounter.makeDirectories(directory, PARENT_MODE);
      await writeRecord(directory, { disk: resolved.disk }, mounter);
      const device = await attachDisk(resolved, node.iscsi);
      if (volume.isBlockDevice) return writeRecord(directory, { disk: resolved.disk, device }, mounter);
      const { fileSystem, options, isReadOnly } = resolved;
      await formatAndMount({ device, path: directory, fileSystem, options, isReadOnly }, mounter);
    },
    async unstage(directory, node) {
      const { mounter } = node;
      await mounter.unmount(directory);
      const record = await readRecord(directory, mounter);
      if (record !== undefined) await detachDisk(record.disk, () => isLast(record.disk, directory, node), node.iscsi);
      await mounter.removeFile(`${directory}/${RECORD}`);
      await mounter.removeEmpty(directory);
    },
  },

  async mount(volume, resolved, node) {
    const { mounter } = node;
    const directory = stagedAt(volume, resolved, node);
    if (volume.isBlockDevice) await linkDevice(volume, await deviceIn(directory, mounter), mounter);
    else await bindVolume(volume, { from: directory, isReadOnly: resolved.isReadOnly, options: resolved.options }, node);
    await markReady(volume, mounter);
    return mountedAt(volume);
  },

  unmount: ({ path, isBlockDevice }, { mounter }) => (isBlockDevice ? Promise.resolve() : mounter.unmount(path)),

  async reconstruct(volume, { mounter }) {
    const { path, isBlockDevice } = volume;
    if (!(await isReady(volume, mounter))) return undefined;
    const isThere = isBlockDevice ? (await mounter.fileKind(path)) === "block-device" : await mounter.isMountedAt(path);
    return isThere ? mountedAt(volume) : undefined;
  },
};

function root({ pluginsDirectory }: VolumeNode, isBlockDevice: boolean): string {
  return `${pluginsDirectory}/kubernetes.io/iscsi${isBlockDevice ? "/volumeDevices" : ""}`;
}

function stagedAt(volume: PodVolume, { disk }: ResolvedDisk, node: VolumeNode): string {
  return `${root(node, volume.isBlockDevice)}/iface-${disk.iface}/${diskName(disk)}`;
}

async function writeRecord(directory: string, record: DiskRecord, mounter: Mounter): Promise<void> {
  await mounter.writeText(`${directory}/${RECORD}`, `${JSON.stringify(record)}\n`);
}

async function readRecord(directory: string, mounter: Mounter): Promise<DiskRecord | undefined> {
  const text = await mounter.readText(`${directory}/${RECORD}`);
  return text === undefined ? undefined : (JSON.parse(text) as DiskRecord);
}

async function deviceIn(directory: string, mounter: Mounter): Promise<string> {
  const device = (await readRecord(directory, mounter))?.device;
  if (device === undefined) throw new VolumeError("the iSCSI device is not attached");
  return device;
}

/** No other directory belongs to the same target and portal. */
async function isLast({ portals, iqn }: IscsiDisk, directory: string, node: VolumeNode): Promise<boolean> {
  const prefix = targetPrefix(portals[0] ?? "", iqn);
  for (const top of [root(node, false), root(node, true)]) {
    for (const iface of (await node.mounter.namesIn(top)).filter((name) => name.startsWith("iface-"))) {
      const names = await node.mounter.namesIn(`${top}/${iface}`);
      if (names.some((name) => name.startsWith(prefix) && `${top}/${iface}/${name}` !== directory)) return false;
    }
  }
  return true;
}

function mountedAt(volume: PodVolume) {
  const isReadOnly = iscsiSource(volume)?.readOnly === true || isReadOnlyClaim(volume.volume);
  const common = { path: volume.path, isReadOnly, isExternal: false, isEphemeral: false };
  return volume.isBlockDevice ? { ...common, isBlockDevice: true as const } : common;
}
