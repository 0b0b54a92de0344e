/**
 * The contract of a volume kind. A plugin is a stateless value; everything it touches comes with the `VolumeNode`. volumes/all.ts lists
 * the plugins, testing/volume-suite.ts verifies each, and machine/volumes calls them:
 *
 *     first mount            resolve → mount
 *     kubelet restarted      reconstruct → (resolve → refresh, if the plugin has it)
 *     source or Pod changed  resolve → refresh
 *     Pod terminated         unmount, then the directories of the Pod are removed
 *
 * Every step is idempotent: the kubelet may be killed between any two calls and repeats the last one. Calls for one Pod never overlap,
 * except that several of its volumes are mounted at the same time. Errors are VolumeErrors where the user can do something about it; their
 * messages end up in the Event FailedMount. Not here: directories of subPaths (machine/volumes/sub-paths.ts).
 */
import type { ConfigMap, Pod, Secret, Volume, VolumeSource } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import type { Logger } from "../../../base/logger.ts";
import type { MountedVolume, TokenSpec } from "../../contracts/pod-volumes.ts";
import type { Mounter } from "./mounter.ts";

/** `Resolved` is what `resolve` hands to `mount` and `refresh`. */
export interface VolumePlugin<Resolved = unknown> {
  /** The field of `spec.volumes[*]` that selects this plugin. */
  readonly source: keyof VolumeSource;
  /** Directory name below `pods/<uid>/volumes`: upstream's plugin name with "/" written as "~". Unique among the plugins. */
  readonly directory: string;

  /**
   * Reads the API objects that the volume depends on and checks its fields. Must not change anything on the node: a volume whose sources
   * are missing leaves no trace. Rejects with a MissingSourceError if an object does not exist; the kubelet retries with backoff.
   */
  resolve(volume: PodVolume, node: VolumeNode, signal: AbortSignal): Promise<Resolved>;

  /** Creates what is missing of the volume. Rejecting may leave a part behind; the next `mount` completes it or `unmount` removes it. */
  mount(volume: PodVolume, resolved: Resolved, node: VolumeNode): Promise<MountedVolume>;

  /**
   * Brings the contents of a mounted volume up to date without replacing its mount, since containers hold it. A failure leaves the old
   * contents. Absent: contents belong to the containers once they are mounted.
   */
  refresh?(volume: PodVolume, resolved: Resolved, node: VolumeNode): Promise<void>;

  /**
   * Releases what the kernel or a driver holds for the volume. Called with a location alone, because the Pod object may no longer exist,
   * and also for a volume that was never mounted. Must not delete files: the caller removes the Pod's directories, unless the Pod is to
   * run here again.
   */
  unmount(location: VolumeLocation, node: VolumeNode): Promise<void>;

  /** Returns the volume that an earlier process mounted, from disk and mount table alone; undefined if `mount` has to run. */
  reconstruct(volume: PodVolume, node: VolumeNode): Promise<MountedVolume | undefined>;
}

/** Where a plugin keeps a volume of a Pod. The paths are absolute; neither needs to exist. */
export interface VolumeLocation {
  readonly podUid: string;
  readonly volumeName: string;
  /** `pods/<uid>/volumes/<directory>/<name>`: what containers see. */
  readonly path: string;
  /** `pods/<uid>/plugins/<directory>/<name>`: files of the plugin's own, never mounted into a container. Removed with the Pod. */
  readonly stateDirectory: string;
}

export interface PodVolume extends VolumeLocation {
  readonly pod: Pod;
  readonly volume: Volume;
}

/** The node that a plugin works on. */
export interface VolumeNode {
  readonly mounter: Mounter;
  readonly references: {
    /** Undefined if it does not exist. */
    configMap(namespace: string, name: string, signal?: AbortSignal): Promise<ConfigMap | undefined>;
    secret(namespace: string, name: string, signal?: AbortSignal): Promise<Secret | undefined>;
  };
  readonly tokens: { token(pod: Pod, wish: TokenSpec, signal?: AbortSignal): Promise<string> };
  /** Current allocatable resources. */
  nodeAllocatable(): ResourceList;
  readonly log: Logger;
}
