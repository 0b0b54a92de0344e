/** The directory of a volume: on disk or on a tmpfs, accessible to every user of the Pod. Existing ones are left as they are. */
import type { Pod } from "../../../api/generated/core/v1.ts";
import { modeForGroup } from "./file-rights.ts";
import { memoryBytes } from "./memory-size.ts";
import type { Mounter } from "./mounter.ts";
import type { PodVolume, VolumeLocation, VolumeNode } from "./volume-plugin.ts";

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

export interface GroupOptions {
  readonly isReadOnly: boolean;
  readonly node: Pick<VolumeNode, "mounter" | "ownership">;
  /** Whether `fsGroupChangePolicy` applies: it does to volumes that outlive the Pod, and not to ephemeral ones. */
  readonly usesChangePolicy?: boolean;
}

/** Gives the volume to the Pod's `fsGroup`, if it has one. */
export async function setPodGroup(path: string, volume: PodVolume, options: GroupOptions): Promise<void> {
  const { isReadOnly, node, usesChangePolicy = false } = options;
  const { mounter, ownership } = node;
  const { fsGroup: groupId, fsGroupChangePolicy } = volume.pod.spec?.securityContext ?? {};
  if (groupId === undefined) return;
  let processed = 0;
  const modeFor = (mode: number, { isDirectory }: { readonly isDirectory: boolean }) => {
    processed += 1;
    return modeForGroup(mode, { isDirectory, isReadOnly });
  };
  if (usesChangePolicy && fsGroupChangePolicy === "OnRootMismatch") {
    // The root is changed last, so all below has the group, too.
    const rights = await mounter.rightsOf(path);
    if (rights?.groupId === groupId && modeFor(rights.mode, { isDirectory: true }) === rights.mode) return;
  }
  await ownership.changing(volume, {
    isPersistent: usesChangePolicy,
    processed: () => processed,
    run: () => mounter.changeGroup(path, groupId, modeFor),
  });
}

const READY_FILE_MODE = 0o640;

/** Records that a volume is set up, as upstream does it for emptyDir: an interrupted `mount` is repeated. */
export async function markReady({ stateDirectory }: StateLocation, mounter: Mounter): Promise<void> {
  await mounter.makeDirectories(stateDirectory, PARENT_MODE);
  await mounter.touchFile(`${stateDirectory}/ready`, READY_FILE_MODE);
}

export async function isReady({ stateDirectory }: StateLocation, mounter: Mounter): Promise<boolean> {
  return (await mounter.fileKind(`${stateDirectory}/ready`)) === "file";
}

/** Before a volume is unmounted: the same Pod may run here again. */
export async function unmarkReady({ stateDirectory }: StateLocation, mounter: Mounter): Promise<void> {
  await mounter.removeFile(`${stateDirectory}/ready`);
}

type StateLocation = Pick<VolumeLocation, "stateDirectory">;
