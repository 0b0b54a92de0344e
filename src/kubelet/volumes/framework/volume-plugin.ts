/**
 * The contract of a volume kind. A plugin is a stateless value; everything it touches comes with the `VolumeNode`. volumes/all.ts lists
 * the plugins, testing/volume-suite.ts verifies each, and machine/volumes calls them:
 *
 *     first mount            (claim → PersistentVolume) → staging.isAttachable → resolve → staging.stage → mount → (expand)
 *     kubelet restarted      reconstruct → (resolve → refresh, if the plugin has it)
 *     source or Pod changed  resolve → refresh
 *     claim was enlarged     resolve → expand
 *     Pod terminated         unmount → staging.unstage (last Pod of the volume), then the directories of the Pod are removed
 *
 * Every step is idempotent: the kubelet may be killed between any two calls and repeats the last one. Calls for one Pod never overlap,
 * except that several of its volumes are mounted at the same time. Errors are VolumeErrors where the user can do something about it; their
 * messages end up in the Event FailedMount. Not here: directories of subPaths (machine/volumes/sub-paths.ts).
 */
import type {
  ConfigMap,
  ImageVolumeSource,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  Secret,
  Volume,
  VolumeSource,
} from "../../../api/generated/core/v1.ts";
import type { ClusterTrustBundle } from "../../../api/generated/certificates.k8s.io/v1beta1.ts";
import type { CSIDriver, VolumeAttachment } from "../../../api/generated/storage.k8s.io/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import type { Logger } from "../../../base/logger.ts";
import type { CsiNodeDriver } from "../../../csi/contract.ts";
import type { CertificateSource, PodCredentials } from "../../contracts/pod-certificates.ts";
import type { VolumeReport } from "../../contracts/pod-storage.ts";
import type { MountedVolume, TokenSpec } from "../../contracts/pod-volumes.ts";
import type { IscsiInitiator } from "./iscsi-initiator.ts";
import type { Mounter } from "./mounter.ts";

/** `Resolved` is what `resolve` hands to the later steps. */
export interface VolumePlugin<Resolved = unknown> {
  /** The field of `spec.volumes[*]` that selects this plugin. Absent: only for PersistentVolumes. */
  readonly source?: keyof VolumeSource;
  /** The field of a PersistentVolume's `spec` that selects this plugin. Absent: only for volumes of Pods. A plugin has one of the two. */
  readonly persistentSource?: keyof PersistentVolumeSpec;
  /** Directory name below `pods/<uid>/volumes`: upstream's plugin name with "/" written as "~". Unique among the plugins. */
  readonly directory: string;

  /**
   * Reads the API objects that the volume depends on and checks its fields. Must not change anything on the node: a volume whose sources
   * are missing leaves no trace. Rejects with a MissingSourceError if an object does not exist; the kubelet retries with backoff. Rejects
   * with a NotAttachedError if a controller still has to attach the volume; the caller resolves again soon, without an Event.
   */
  resolve(volume: PodVolume, node: VolumeNode, signal: AbortSignal): Promise<Resolved>;

  /** What all Pods of this node share of a volume. Absent: each Pod's mount is independent. */
  readonly staging?: VolumeStaging<Resolved>;

  /**
   * Creates what is missing of the volume; a staged one is staged. Rejecting may leave a part behind; the next `mount` completes it or
   * `unmount` removes it.
   */
  mount(volume: PodVolume, resolved: Resolved, node: VolumeNode): Promise<MountedVolume>;

  /**
   * Brings the contents of a mounted volume up to date without replacing its mount, since containers hold it. A failure leaves the old
   * contents. Absent: contents belong to the containers once they are mounted.
   */
  refresh?(volume: PodVolume, resolved: Resolved, node: VolumeNode): Promise<void>;

  /**
   * Grows a mounted volume on this node to the capacity of its PersistentVolume (file system, or what the driver does). The caller decides
   * when it is due and reports the result in the claim. Absent: the volume does not need the node for it.
   */
  expand?(volume: PodVolume, resolved: Resolved, node: VolumeNode): Promise<void>;

  /** File system usage of a mounted volume. Absent: the caller measures the path of the volume. */
  usage?(volume: PodVolume, mounted: MountedVolume, node: VolumeNode): Promise<VolumeReport | undefined>;

  /**
   * Releases what the kernel or a driver holds for the volume. Called with a location alone, because the Pod object may no longer exist,
   * and also for a volume that was never mounted. Must not delete files: the caller removes the Pod's directories, unless the Pod is to
   * run here again.
   */
  unmount(location: VolumeLocation, node: VolumeNode): Promise<void>;

  /** Returns the volume that an earlier process mounted, from disk and mount table alone; undefined if `mount` has to run. */
  reconstruct(volume: PodVolume, node: VolumeNode): Promise<MountedVolume | undefined>;
}

/** Calls for one `volumeId` never overlap. After a restart the caller knows from its own records which Pods use which staged volume. */
export interface VolumeStaging<Resolved = unknown> {
  /** Upstream's unique volume name: "kubernetes.io/csi/<driver>^<handle>". */
  volumeId(volume: PodVolume): string;
  /**
   * Whether a controller attaches the volume to the node. Its `volumeId` is then in the Node's status as in use before `resolve` is called,
   * which rejects with a NotAttachedError until it is attached. Absent: never.
   */
  isAttachable?(volume: PodVolume, node: VolumeNode, signal: AbortSignal): Promise<boolean>;
  /** Absolute path below `node.pluginsDirectory`, unique to the volume; undefined if this volume needs no staging. Not created. */
  directory(volume: PodVolume, resolved: Resolved, node: VolumeNode): string | undefined;
  /**
   * Called before the `mount` of each Pod, also if it is staged already. Rejects with a FinalVolumeError if nothing was staged by this call;
   * without an earlier success, `unstage` is then not called.
   */
  stage(staged: StagedVolume<Resolved>, node: VolumeNode): Promise<void>;
  /** Called after the `unmount` of the last Pod, with the directory alone, also if `stage` never completed. Removes the directory. */
  unstage(directory: string, node: VolumeNode): Promise<void>;
  /** Called instead of `unstage` after a FinalVolumeError: removes the directory and records. Absent: `stage` does not reject with one. */
  forget?(directory: string, node: VolumeNode): Promise<void>;
}

export interface StagedVolume<Resolved> {
  readonly volume: PodVolume;
  readonly resolved: Resolved;
  readonly directory: string;
}

/** Where a plugin keeps a volume of a Pod. The paths are absolute; neither needs to exist. */
export interface VolumeLocation {
  readonly podUid: string;
  /** The volume's name in the Pod, or that of its PersistentVolume. */
  readonly volumeName: string;
  /** `pods/<uid>/volumes/<directory>/<name>`: what containers see. A raw block device: `pods/<uid>/volumeDevices/<directory>/<name>`. */
  readonly path: string;
  readonly isBlockDevice: boolean;
  /** `pods/<uid>/plugins/<directory>/<name>`: files of the plugin's own, never mounted into a container. Removed with the Pod. */
  readonly stateDirectory: string;
}

export interface PodVolume extends VolumeLocation {
  readonly pod: Pod;
  readonly volume: Volume;
  /** Present for volumes that outlive the Pod: of type persistentVolumeClaim and ephemeral, and of plugins that CSI drivers have replaced. */
  readonly persistent?: PersistentSource;
}

export interface PersistentSource {
  /** Bound to the volume. Absent if the Pod itself names the source. */
  readonly claim?: PersistentVolumeClaim;
  /** With the source of the CSI driver, if one has replaced its plugin. */
  readonly volume: PersistentVolume;
}

export interface PersistentPair extends PersistentSource {
  readonly claim: PersistentVolumeClaim;
}

/** A volume's files are given to the Pod's group. */
export interface GroupChange {
  /** The volume outlives the Pod, and may have many files. */
  readonly isPersistent: boolean;
  /** Number of files so far. */
  processed(): number;
  run(): Promise<void>;
}

/** The node that a plugin works on. */
export interface VolumeNode {
  readonly nodeName: string;
  /** `<root>/plugins`: what is shared by the Pods of the node, in a directory per plugin. */
  readonly pluginsDirectory: string;
  readonly mounter: Mounter;
  /** Makes the change. Rejects as the change does. */
  readonly ownership: { changing(volume: PodVolume, change: GroupChange): Promise<void> };
  /** Where a path of the node that a manifest names is on this machine: /var/lib/kubelet is the kubelet's root directory. */
  hostPath(path: string): string;
  readonly references: VolumeReferences;
  /** CSI drivers that are registered on the node, by name. */
  readonly csi: { driver(name: string): CsiNodeDriver | undefined };
  readonly tokens: { token(pod: Pod, wish: TokenSpec, signal?: AbortSignal): Promise<string> };
  /** Requests a certificate if the source has none yet, and waits for it a while. Rejects with the reason if none was issued. */
  readonly podCertificates: { credentials(source: CertificateSource, signal: AbortSignal): Promise<PodCredentials> };
  /** Absent: the container runtime has no views of images. */
  readonly images?: VolumeImages;
  readonly iscsi: IscsiInitiator;
  /** Current allocatable resources. */
  nodeAllocatable(): ResourceList;
  readonly log: Logger;
}

/** Images of the container runtime, for image volumes. */
export interface VolumeImages {
  /** Pulls the image if its policy demands it. Resolves with its id. */
  ensure(pod: Pod, source: ImageVolumeSource, signal: AbortSignal): Promise<string>;
  /** Mounts a read-only view of an image. The view has a key and is kept until `unmount`. */
  mount(imageId: string, view: { readonly key: string; readonly path: string }): Promise<void>;
  /** Idempotent. */
  unmount(view: { readonly key: string; readonly path: string }): Promise<void>;
}

/** Each is undefined if it does not exist. */
export interface VolumeReferences {
  configMap(namespace: string, name: string, signal?: AbortSignal): Promise<ConfigMap | undefined>;
  secret(namespace: string, name: string, signal?: AbortSignal): Promise<Secret | undefined>;
  persistentVolumeClaim(namespace: string, name: string, signal?: AbortSignal): Promise<PersistentVolumeClaim | undefined>;
  persistentVolume(name: string, signal?: AbortSignal): Promise<PersistentVolume | undefined>;
  csiDriver(name: string, signal?: AbortSignal): Promise<CSIDriver | undefined>;
  volumeAttachment(name: string, signal?: AbortSignal): Promise<VolumeAttachment | undefined>;
  /** This node's own object; no other one can be read. */
  node(name: string, signal?: AbortSignal): Promise<Node | undefined>;
  /** All of them. The Pod's volumes are refreshed when they change. */
  trustBundles(podUid: string, signal?: AbortSignal): Promise<readonly ClusterTrustBundle[]>;
}
