/** Where on the disk a Pod's things are, as kubelets have always had it: <root>/pods/<uid>/volumes/kubernetes.io~configmap/<name>. Only paths. */
import { joinPath } from "../../../host/files/files.ts";
import { EMPTY_DIRECTORIES } from "../../volumes/framework/volume-kind.ts";

/** Of the directories above volumes: containers come to their volumes by mounts, and nobody else has business there. */
export const PARENT_MODE = 0o750;

export class PodDirectories {
  /** All Pods: each has a directory that is named by its uid. */
  readonly pods: string;

  /** `root` is absolute and without links, as the kernel writes it in its table of mounts. */
  constructor(root: string) {
    this.pods = joinPath(root, "pods");
  }

  pod(podUid: string): string {
    // Uids come from the API and are no paths; what is removed by them must be sure.
    if (!/^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(podUid))
      throw new Error(`Cannot use "${podUid}" as the uid of a Pod: it is no name of a directory`);
    return joinPath(this.pods, podUid);
  }

  volume(podUid: string, kindDirectory: string, name: string): string {
    return joinPath(this.pod(podUid), "volumes", kindDirectory, name);
  }

  /** Is there once an emptyDir volume was set up: from then on what is in it is the Pod's. */
  readyDirectory(podUid: string, volumeName: string): string {
    return joinPath(this.pod(podUid), "plugins", EMPTY_DIRECTORIES, volumeName);
  }

  /** Where a mount with a subPath is shown. `index` is its place among the mounts of the container. */
  subPath(
    podUid: string,
    { volume, container, index }: { readonly volume: string; readonly container: string; readonly index: number },
  ): string {
    return joinPath(this.pod(podUid), "volume-subpaths", volume, container, String(index));
  }
}
