/**
 * image: the files of a container image, read-only and without the right to execute them, as upstream. The image is pulled by its policy
 * when the Pod starts, and is kept for as long as the Pod uses it.
 */
import { ensureDirectory } from "../framework/volume-directory.ts";
import { VolumeError } from "../framework/volume-error.ts";
import type { VolumeImages, VolumeLocation, VolumeNode, VolumePlugin } from "../framework/volume-plugin.ts";

export const image: VolumePlugin<string> = {
  source: "image",
  directory: "kubernetes.io~image",

  async resolve({ pod, volume }, node, signal) {
    return imagesOf(node).ensure(pod, volume.image ?? {}, signal);
  },

  async mount(volume, imageId, node) {
    await ensureDirectory(volume.path, node.mounter);
    if (!(await node.mounter.isMountedAt(volume.path))) await imagesOf(node).mount(imageId, viewOf(volume));
    return mountedAt(volume);
  },

  async unmount(location, { images }) {
    await images?.unmount(viewOf(location));
  },

  async reconstruct(volume, { mounter }) {
    return (await mounter.isMountedAt(volume.path)) ? mountedAt(volume) : undefined;
  },
};

function imagesOf({ images }: VolumeNode): VolumeImages {
  if (images === undefined) throw new VolumeError("the container runtime of this node does not support volumes of type image");
  return images;
}

function viewOf({ podUid, volumeName, path }: VolumeLocation): { readonly key: string; readonly path: string } {
  return { key: `k8ts-image-volume-${podUid}-${volumeName}`, path };
}

function mountedAt({ path }: VolumeLocation) {
  return { path, isReadOnly: true, isExternal: false, isEphemeral: false };
}
