/** The directory of a volume: on disk or on a tmpfs, accessible to every user of the Pod. Existing ones are left as they are. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { modeForGroup } from "./file-rights.ts";
import { memoryBytes } from "./memory-size.ts";
import type { Mounter } from "./mounter.ts";
import type { VolumeNode } from "./volume-plugin.ts";

/** Mode of the directories above volumes: containers reach a volume by its mount, and no other user needs access. */
export const PARENT_MODE = 0o750;

/** Containers run as any user. */
const VOLUME_MODE = 0o777;

export async function ensureDirectory(path: string, mounter: Mounter): Promise<void> {
  await mounter.makeDirectories(path.slice(0, path.lastIndexOf("/")), PARENT_MODE);
  await mounter.makeDirectories(path, VOLUME_MODE);
}

export interface TmpfsOptions {
  readonly pod: Pod;
  readonly node: Pick<VolumeNode, "mounter" | "nodeAllocatable">;
  readonly sizeLimit?: string;
}

/** Rejects if this process is not allowed to mount. */
export async function ensureTmpfs(path: string, { pod, node, sizeLimit }: TmpfsOptions): Promise<void> {
  await ensureDirectory(path, node.mounter);
  if (await node.mounter.isMountPoint(path)) return;
  const sizeBytes = memoryBytes(pod, node.nodeAllocatable(), sizeLimit);
  await node.mounter.mountTmpfs(path, sizeBytes === undefined ? {} : { sizeBytes });
}

/** Gives the volume to the Pod's `fsGroup`, if it has one. */
export async function setPodGroup(
  path: string,
  { spec }: Pod,
  { isReadOnly, mounter }: { readonly isReadOnly: boolean; readonly mounter: Mounter },
): Promise<void> {
  const groupId = spec?.securityContext?.fsGroup;
  if (groupId === undefined) return;
  await mounter.changeGroup(path, groupId, (mode, { isDirectory }) => modeForGroup(mode, { isDirectory, isReadOnly }));
}
