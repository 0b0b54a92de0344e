/** The volumes of the Pods of this node, on the machine's disks. The contract; machine/volumes fills it. */
import type { Container, EphemeralContainer, Pod, VolumeMount } from "../../api/generated/core/v1.ts";

export interface PodVolumes extends AsyncDisposable {
  /**
   * Has all volumes there that the Pod's containers use (used-volumes.ts), with what they are to hold, and keeps them up to date until they are unmounted. Resolves with where
   * each is, by its name. Repeating it is cheap. Rejects with a MountError (pod-machine.ts).
   */
  mount(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>>;
  /** Of a Pod that was mounted. */
  mounted(podUid: string): ReadonlyMap<string, MountedVolume> | undefined;
  /** The Pod has changed (labels, annotations): what volumes show of it follows. */
  update(pod: Pod): void;
  /** The path of this machine for a mount with a subPath, which is made if it must be and never leads out of the volume. */
  subPath(pod: Pod, container: Container | EphemeralContainer, mount: VolumeMount, expanded: string): Promise<string>;
  /** Unmounts and removes all that is the Pod's. What was a hostPath stays; with `keepsFiles`, also what is on disk. */
  unmount(podUid: string, options?: { readonly keepsFiles: boolean }): Promise<void>;
  /** The uids of Pods that have something there. */
  pods(): Promise<readonly string[]>;
}

export interface MountedVolume {
  /** An absolute path of this machine. */
  readonly path: string;
  /** Whatever the mount says. */
  readonly isReadOnly: boolean;
  /** Of hostPath: it is somebody else's. */
  readonly isForeign: boolean;
}
