/**
 * nfs: an export of a server, mounted for each Pod by the machine's own `mount.nfs` (Debian: nfs-common). As upstream, `fsGroup` does not
 * apply: the server decides who owns the files.
 */
import type { NFSVolumeSource } from "../../../api/generated/core/v1.ts";
import { isReadOnlyClaim } from "../framework/claimed-volume.ts";
import { PARENT_MODE } from "../framework/volume-directory.ts";
import type { PodVolume, VolumePlugin } from "../framework/volume-plugin.ts";

interface Export {
  readonly device: string;
  readonly options: readonly string[];
}

export const nfs: VolumePlugin<Export> = {
  source: "nfs",
  persistentSource: "nfs",
  directory: "kubernetes.io~nfs",

  async resolve(volume) {
    const { server, path } = sourceOf(volume) ?? { server: "", path: "" };
    const options = volume.persistent?.volume.spec?.mountOptions ?? [];
    return {
      device: `${isBareIpv6(server) ? `[${server}]` : server}:${path}`,
      options: [...(isReadOnly(volume) ? ["ro"] : []), ...options],
    };
  },

  async mount(volume, { device, options }, { mounter }) {
    await mounter.makeDirectories(volume.path, PARENT_MODE);
    if (!(await mounter.isMountedAt(volume.path))) await mounter.mountDevice({ device, path: volume.path, fileSystem: "nfs", options });
    return mountedAt(volume);
  },

  unmount: ({ path }, { mounter }) => mounter.unmount(path),

  async reconstruct(volume, { mounter }) {
    return (await mounter.isMountedAt(volume.path)) ? mountedAt(volume) : undefined;
  },
};

function sourceOf({ volume, persistent }: PodVolume): NFSVolumeSource | undefined {
  return persistent?.volume.spec?.nfs ?? volume.nfs;
}

function isReadOnly(volume: PodVolume): boolean {
  return sourceOf(volume)?.readOnly === true || isReadOnlyClaim(volume.volume);
}

function isBareIpv6(server: string): boolean {
  return server.includes(":") && !server.startsWith("[");
}

function mountedAt(volume: PodVolume) {
  return { path: volume.path, isReadOnly: isReadOnly(volume), isExternal: false, isEphemeral: false };
}
