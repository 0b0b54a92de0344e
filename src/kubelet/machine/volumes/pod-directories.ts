/** Paths of Pods on disk, as upstream's kubelet lays them out: <root>/pods/<uid>/volumes/kubernetes.io~configmap/<name>. */
import { joinPath } from "../../../host/files/files.ts";
import type { VolumeLocation } from "../../volumes/framework/volume-plugin.ts";

export class PodDirectories {
  /** The parent of all Pod directories, which are named by uid. */
  readonly pods: string;

  /** `root` is absolute and free of symbolic links, as paths in the kernel's mount table are. */
  constructor(root: string) {
    this.pods = joinPath(root, "pods");
  }

  pod(podUid: string): string {
    // Uids come from the API server and are not paths; a directory is removed by this name.
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(podUid))
      throw new Error(`Cannot use "${podUid}" as the uid of a Pod: it is not a valid directory name`);
    return joinPath(this.pods, podUid);
  }

  /** The parent of the volumes of one Pod; below it is a directory per volume kind. */
  volumes(podUid: string): string {
    return joinPath(this.pod(podUid), "volumes");
  }

  volume(podUid: string, pluginDirectory: string, volumeName: string): VolumeLocation {
    const path = joinPath(this.volumes(podUid), pluginDirectory, volumeName);
    return { podUid, volumeName, path, stateDirectory: joinPath(this.pod(podUid), "plugins", pluginDirectory, volumeName) };
  }

  /** The parent of all mounts with a subPath of one Pod. */
  subPaths(podUid: string): string {
    return joinPath(this.pod(podUid), "volume-subpaths");
  }

  /** Target of a mount with a subPath. `index` is its position among the mounts of the container. */
  subPath(
    podUid: string,
    { volume, container, index }: { readonly volume: string; readonly container: string; readonly index: number },
  ): string {
    return joinPath(this.subPaths(podUid), volume, container, String(index));
  }
}
