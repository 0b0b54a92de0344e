/**
 * Plugins whose volumes are files made from API objects (configMap, secret, downwardAPI, projected). They differ only in `resolve`; the
 * files are replaced atomically, so that a container sees either all old or all new ones.
 */
import { nestedMountPoints } from "./nested-mount-points.ts";
import { checkedFiles, type VolumeFiles } from "./volume-file.ts";
import { ensureDirectory, ensureTmpfs, setPodGroup } from "./volume-directory.ts";
import type { PodVolume, VolumeNode, VolumePlugin } from "./volume-plugin.ts";

/** The API server's default for `defaultMode`. */
export const FILE_MODE_DEFAULT = 0o644;

const NESTED_MODE = 0o755;

export interface FilesPluginOptions extends Required<Pick<VolumePlugin, "source" | "directory">> {
  /** "memory" for anything that may be secret: it must not reach a disk. */
  readonly medium: "disk" | "memory";
  /** Whether the files count as local ephemeral storage of the Pod; upstream counts only configMap. */
  readonly isEphemeral: boolean;
  resolve(volume: PodVolume, node: VolumeNode, signal: AbortSignal): Promise<VolumeFiles>;
}

export function filesPlugin({ source, directory, medium, isEphemeral, resolve }: FilesPluginOptions): VolumePlugin<VolumeFiles> {
  const mountedAt = (path: string) => ({ path, isReadOnly: true, isExternal: false, isEphemeral });
  return {
    source,
    directory,
    async resolve(volume, node, signal) {
      return checkedFiles(await resolve(volume, node, signal));
    },
    async mount(volume, files, node) {
      if (medium === "memory") await ensureTmpfsIfAllowed(volume, node);
      else await ensureDirectory(volume.path, node.mounter);
      await writeFiles(volume, files, node);
      return mountedAt(volume.path);
    },
    refresh: writeFiles,
    unmount: ({ path }, { mounter }) => mounter.unmount(path),
    async reconstruct({ path }, { mounter }) {
      return (await mounter.hasFiles(path)) ? mountedAt(path) : undefined;
    },
  };
}

async function writeFiles(podVolume: PodVolume, files: VolumeFiles, node: VolumeNode): Promise<void> {
  const { pod, volume, path } = podVolume;
  const { mounter } = node;
  for (const nested of nestedMountPoints(pod, volume.name)) await mounter.makeDirectories(`${path}/${nested}`, NESTED_MODE);
  await mounter.writeFiles(path, files, { beforePublish: () => setPodGroup(path, podVolume, { isReadOnly: true, node }) });
}

/** Falls back to the disk where mounting is forbidden: only root can enter the Pod's directory there. */
async function ensureTmpfsIfAllowed({ pod, path }: PodVolume, node: VolumeNode): Promise<void> {
  try {
    await ensureTmpfs(path, { pod, node });
  } catch (error) {
    node.log.warn("Cannot mount a tmpfs for a volume; its files are on disk", { path, error });
  }
}
