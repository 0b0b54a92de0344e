/** Paths of Pods on disk, as upstream's kubelet lays them out: <root>/pods/<uid>/volumes/kubernetes.io~configmap/<name>. */
import { joinPath } from "../../../host/files/files.ts";
import type { VolumeLocation } from "../../volumes/framework/volume-plugin.ts";

export interface VolumePlace {
  readonly plugin: string;
  readonly name: string;
  readonly isBlockDevice?: boolean;
}

export class PodDirectories {
  readonly root: string;
  /** The parent of all Pod directories, which are named by uid. */
  readonly pods: string;
  /** The parent of what Pods share, in a directory per plugin: staged volumes, sockets of drivers. */
  readonly plugins: string;
  /** Records of volumes that no Pod uses any more and that are still staged. */
  readonly unstaging: string;

  /** `root` is absolute and free of symbolic links, as paths in the kernel's mount table are. */
  constructor(root: string) {
    this.root = root;
    this.pods = joinPath(root, "pods");
    this.plugins = joinPath(root, "plugins");
    this.unstaging = joinPath(root, "k8ts-unstaging");
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

  /** As `volumes`, for raw block devices. */
  volumeDevices(podUid: string): string {
    return joinPath(this.pod(podUid), "volumeDevices");
  }

  /** As `volumes`, for files of the plugins' own. */
  states(podUid: string): string {
    return joinPath(this.pod(podUid), "plugins");
  }

  /** `plugin` is the name of the plugin's directory. */
  volume(podUid: string, { plugin, name, isBlockDevice = false }: VolumePlace): VolumeLocation {
    // Names of volumes come from the API server; a directory is removed by this name.
    if (name === "" || name === "." || name === ".." || name.includes("/"))
      throw new Error(`Cannot use "${name}" as the name of a volume: it is not a valid directory name`);
    const path = joinPath(isBlockDevice ? this.volumeDevices(podUid) : this.volumes(podUid), plugin, name);
    return { podUid, volumeName: name, path, isBlockDevice, stateDirectory: joinPath(this.states(podUid), plugin, name) };
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
