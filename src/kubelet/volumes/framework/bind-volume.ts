/** Shows the Pod what a plugin prepared for all Pods of the node: a directory by a bind mount, a block device by a link. Idempotent. */
import type { Mounter, MountOptions } from "./mounter.ts";
import { ensureDirectory, PARENT_MODE, setPodGroup } from "./volume-directory.ts";
import type { PodVolume, VolumeNode } from "./volume-plugin.ts";

export interface BoundDirectory {
  readonly from: string;
  readonly isReadOnly: boolean;
  readonly options: MountOptions;
}

export async function bindVolume(volume: PodVolume, { from, isReadOnly, options }: BoundDirectory, node: VolumeNode): Promise<void> {
  const { path } = volume;
  const { mounter } = node;
  await ensureDirectory(path, mounter);
  if (!(await mounter.isMountedAt(path))) await mounter.bindMount(from, path, [...(isReadOnly ? ["ro"] : []), ...options]);
  if (!isReadOnly) await setPodGroup(path, volume, { isReadOnly: false, node, usesChangePolicy: true });
}

export async function linkDevice({ path }: PodVolume, device: string, mounter: Mounter): Promise<void> {
  await mounter.makeDirectories(path.slice(0, path.lastIndexOf("/")), PARENT_MODE);
  await mounter.link(path, device);
}
