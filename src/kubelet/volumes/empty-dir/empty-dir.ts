/** emptyDir: created once, on disk, on a tmpfs or in huge pages; from then on its contents belong to the Pod, across restarts of the kubelet. */
import type { Volume } from "../../../api/generated/core/v1.ts";
import { ensureDirectory, ensureTmpfs, isReady, markReady, setPodGroup } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";
import { ensureHugePages, isHugePagesMedium } from "./huge-pages.ts";
import type { VolumePlugin } from "../framework/volume-plugin.ts";

export const emptyDir: VolumePlugin<void> = {
  source: "emptyDir",
  directory: "kubernetes.io~empty-dir",

  resolve: () => Promise.resolve(),

  async mount(podVolume, _resolved, node) {
    const { pod, volume, path } = podVolume;
    const { mounter } = node;
    const sizeLimit = volume.emptyDir?.sizeLimit;
    const medium = mediumOf(volume);
    if (medium === "") await ensureDirectory(path, mounter);
    else if (medium === "Memory") await ensureTmpfs(path, { pod, node, ...(sizeLimit === undefined ? {} : { sizeLimit }) });
    else if (isHugePagesMedium(medium)) await ensureHugePages(path, { medium, pod, mounter });
    else throw new VolumeError(`unknown storage medium "${medium}"`);
    await setPodGroup(path, podVolume, { isReadOnly: false, node });
    await markReady(podVolume, mounter);
    return mountedAt(path, medium);
  },

  unmount: ({ path }, { mounter }) => mounter.unmount(path),

  async reconstruct({ volume, path, ...location }, { mounter }) {
    if (!(await isReady(location, mounter))) return undefined;
    if ((await mounter.fileKind(path)) !== "directory") return undefined;
    const medium = mediumOf(volume);
    // After a reboot the directory is still there, but what was mounted is not.
    if (medium !== "" && !(await mounter.isMountPoint(path))) return undefined;
    return mountedAt(path, medium);
  },
};

function mediumOf({ emptyDir: source }: Volume): string {
  return source?.medium ?? "";
}

function mountedAt(path: string, medium: string) {
  return { path, isReadOnly: false, isExternal: false, isEphemeral: medium === "" };
}
