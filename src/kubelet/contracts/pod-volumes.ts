/** The volumes of the Pods of this node. Contract; machine/volumes implements it over the plugins of kubelet/volumes. */
import type { ClaimName, VolumeReport } from "./pod-storage.ts";
import type { Container, EphemeralContainer, Pod, VolumeMount } from "../../api/generated/core/v1.ts";

export interface PodVolumes extends AsyncDisposable {
  /**
   * Mounts all volumes that the Pod's containers use (pod/used-volumes.ts) and keeps their contents up to date until `unmount`. Resolves
   * with the mounted volumes by name. Idempotent and cheap if nothing is missing. Rejects with a MountError (pod-machine.ts).
   */
  mount(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>>;
  /** Mounted volumes of a Pod by name; undefined if `mount` was not called since the kubelet started. */
  mounted(podUid: string): ReadonlyMap<string, MountedVolume> | undefined;
  /** Refreshes volumes that show the Pod's labels or annotations. */
  update(pod: Pod): void;
  /**
   * Resolves with the host path for a mount with a subPath. Creates the directory if it is missing; the result never escapes the volume.
   */
  subPath(pod: Pod, container: Container | EphemeralContainer, mount: VolumeMount, expanded: string): Promise<string>;
  /**
   * Unmounts and removes all volumes of the Pod. The target of a hostPath is never removed; with `keepsFiles`, files on disk are kept as
   * well.
   */
  unmount(podUid: string, options?: { readonly keepsFiles: boolean }): Promise<void>;
  /** What the plugin of a mounted volume measures itself; undefined if the caller has to measure the volume's path. */
  report(podUid: string, volumeName: string): Promise<VolumeReport | undefined>;
  /** Names of the volumes of this node that a controller attaches, from before they are mounted until they are unstaged; sorted. */
  volumesInUse(): readonly string[];
  /** Uids of Pods that have a directory on disk. */
  pods(): Promise<readonly string[]>;
}

export interface MountedVolume {
  /** Absolute host path. */
  readonly path: string;
  /** True if every mount of the volume is read-only, whatever the container's volumeMount says. */
  readonly isReadOnly: boolean;
  /** True for a directory of the host that does not belong to the Pod (hostPath). */
  readonly isExternal: boolean;
  /** True if its disk usage counts as local ephemeral storage of the Pod. */
  readonly isEphemeral: boolean;
  /** The path is a block device, which containers get through `volumeDevices`. */
  readonly isBlockDevice?: true;
  /** The claim behind it: its usage is that of its file system, and it is reported with the claim's name. */
  readonly claim?: ClaimName;
}

/** A service account token that a volume projects. */
export interface TokenSpec {
  /** Absent: the API server's own audience. */
  readonly audience?: string;
  readonly expirationSeconds?: number;
}
