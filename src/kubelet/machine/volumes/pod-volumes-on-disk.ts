/**
 * Mounts the volumes of this node's Pods through the plugins of kubelet/volumes and refreshes them while they are mounted. State is read
 * from the disk and from the kernel's mount table, so a kubelet that restarts, or was killed, continues where the last one stopped.
 * Operations on one Pod are serialized. A refresh that fails keeps the old contents and is retried.
 *
 * Not here: the volume kinds (kubelet/volumes), and which Pods exist. The caller registers a Pod with the references before mounting it.
 */
import type { Container, EphemeralContainer, Pod, Volume, VolumeMount } from "../../../api/generated/core/v1.ts";
import { volumeClaimName } from "../../../api/core/v1/pod/references.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { anySignal, NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Logger } from "../../../base/logger.ts";
import { joinPath } from "../../../host/files/files.ts";
import { makeDirectories, namesIn, realPathOf, removeTree } from "../../../host/files/shared-directory.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import { ContainerConfigError } from "../../contracts/pod-machine.ts";
import type { VolumeReport } from "../../contracts/pod-storage.ts";
import type { MountedVolume, PodVolumes } from "../../contracts/pod-volumes.ts";
import type { PodCertificates } from "../../certificates/pod-certificates.ts";
import type { References } from "../../references/references.ts";
import type { ServiceAccountTokens } from "../../references/service-account-tokens.ts";
import { toOwnRoot } from "../../shared/default-root.ts";
import { usedVolumes } from "../../pod/used-volumes.ts";
import { mayHaveGrown } from "../../volumes/framework/claim-expansion.ts";
import { ClaimError, isClaimed } from "../../volumes/framework/claimed-volume.ts";
import { PARENT_MODE } from "../../volumes/framework/volume-directory.ts";
import { VolumeError } from "../../volumes/framework/volume-error.ts";
import type { VolumeImages, VolumeNode, VolumeReferences } from "../../volumes/framework/volume-plugin.ts";
import type { KubeletMetrics } from "../../kubelet-metrics.ts";
import { VolumeChecks } from "./volume-checks.ts";
import { MachineIscsiInitiator } from "./iscsi-initiator.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { linuxMounter } from "./linux-mounter.ts";
import { failedSetUp, limitError, mountError, reachedLimit } from "./mount-errors.ts";
import { PodDirectories } from "./pod-directories.ts";
import { StagedVolumes } from "./staged-volumes.ts";
import { checkSubPath, mountSubPath } from "./sub-paths.ts";
import { startUpdates, type Updates } from "./updates.ts";
import { VolumeExpansion, type VolumeExpansionOptions } from "./volume-expansion.ts";
import { UnstageRetries } from "./unstage-retries.ts";
import { countVolumes, timedOperations } from "./volume-metrics.ts";
import { volumeOwnership } from "./volume-ownership.ts";
import { VolumeSetUp, type PlacedVolume } from "./volume-set-up.ts";

export interface PodVolumesOptions {
  /** For example /var/lib/kubelet. Created if missing. */
  readonly rootDirectory: string;
  readonly nodeName: string;
  readonly references: VolumeReferences & Pick<References, "listen">;
  readonly tokens: Pick<ServiceAccountTokens, "token" | "forget" | "listen">;
  /** Absent: Pods cannot project certificates. */
  readonly podCertificates?: VolumeNode["podCertificates"] & Pick<PodCertificates, "forget" | "listen">;
  /** Absent: no CSI driver registers on this node. */
  readonly csi?: VolumeNode["csi"] & {
    /** Notifies the listener that a driver wants to renew the volumes of this Pod. */
    listenToRepublish(listener: (podUid: string) => void): Disposable;
    /** The node has reached the driver's limit of volumes: what the CSINode says may be out of date. */
    limitReached(driver: string): void;
  };
  /** The node's current allocatable resources. */
  nodeAllocatable(): ResourceList;
  /**
   * Writes `volumesInUse` to the Node's status; resolves with the names that it shows now. Absent: no controller attaches volumes to this
   * node.
   */
  reportVolumesInUse?(): Promise<readonly string[]>;
  /** Absent: no image volumes. */
  readonly images?: VolumeImages;
  /** Absent: claims are not grown. */
  readonly claims?: Omit<VolumeExpansionOptions, "node" | "timed" | "clock">;
  readonly metrics?: Pick<KubeletMetrics, "storageOperation" | "countVolumes" | "volumesFound">;
  readonly clock: Clock;
  readonly log: Logger;
}

const NO_CERTIFICATES: VolumeNode["podCertificates"] = {
  credentials: async () => Promise.reject(new VolumeError("sources of type podCertificate are not supported on this node")),
};

export async function startPodVolumes(options: PodVolumesOptions): Promise<PodVolumes> {
  await makeDirectories(options.rootDirectory, PARENT_MODE);
  const directories = new PodDirectories(await realPathOf(options.rootDirectory));
  // Before Pods: those of drivers have them as hostPaths.
  for (const directory of [directories.pods, directories.plugins]) await makeDirectories(directory, PARENT_MODE);
  const staged = await StagedVolumes.open(directories, options.log);
  options.metrics?.volumesFound({ found: await volumesOnDisk(directories), unreadable: staged.unreadable });
  return new PodVolumesOnDisk(options, directories, staged);
}

/** Number of volumes that earlier processes left. */
async function volumesOnDisk(directories: PodDirectories): Promise<number> {
  let count = 0;
  for (const podUid of await namesIn(directories.pods)) {
    for (const parent of [directories.volumes(podUid), directories.volumeDevices(podUid)])
      for (const plugin of await namesIn(parent)) count += (await namesIn(joinPath(parent, plugin))).length;
  }
  return count;
}

interface MountedPod {
  pod: Pod;
  readonly volumes: Map<string, MountedVolume>;
  /** The mounted volumes with their plugins, by name. */
  readonly placed: Map<string, PlacedVolume>;
  /** Aborted when it is to be unmounted. */
  readonly stop: AbortController;
}

class PodVolumesOnDisk implements PodVolumes {
  readonly #options: PodVolumesOptions;
  readonly #directories: PodDirectories;
  readonly #pods = new Map<string, MountedPod>();
  /** By Pod uid. */
  readonly #turns = new KeyedTurns();
  readonly #updates: Updates;
  readonly #listening: readonly Disposable[];
  readonly #staged: StagedVolumes;
  readonly #node: VolumeNode;
  readonly #setUp: VolumeSetUp;
  readonly #expansion: VolumeExpansion | undefined;
  readonly #checks: VolumeChecks;
  readonly #unstaging: UnstageRetries;

  constructor(options: PodVolumesOptions, directories: PodDirectories, staged: StagedVolumes) {
    this.#options = options;
    this.#directories = directories;
    this.#staged = staged;
    const node: VolumeNode = {
      ...options,
      podCertificates: options.podCertificates ?? NO_CERTIFICATES,
      csi: options.csi ?? { driver: () => undefined },
      nodeAllocatable: () => options.nodeAllocatable(),
      pluginsDirectory: directories.plugins,
      hostPath: (path) => toOwnRoot(path, directories.root),
      mounter: linuxMounter(options.clock),
      ownership: volumeOwnership({ ...options.claims, timed: timedOperations(options), clock: options.clock }),
      iscsi: new MachineIscsiInitiator({ clock: options.clock }),
    };
    this.#node = node;
    this.#expansion =
      options.claims && new VolumeExpansion({ ...options.claims, node, clock: options.clock, timed: timedOperations(options) });
    this.#checks = new VolumeChecks({
      clock: options.clock,
      isNeeded: () => this.#expandable().length > 0 || this.#attached().length > 0,
      check: async (signal) => {
        await this.#recheckAttachments(signal);
        await this.#expandAll(signal);
      },
    });
    this.#unstaging = new UnstageRetries({
      ...{ staged, node, clock: options.clock, log: options.log },
      timed: timedOperations(options),
      onUnused: () => this.#reportUnused(),
    });
    this.#unstaging.want();
    this.#setUp = new VolumeSetUp({
      node,
      directories,
      staged,
      reportInUse: (volumeId) => this.#reportInUse(volumeId),
      onUnused: () => this.#reportUnused(),
      onOwed: (volumeId, failure) => {
        this.#unstaging.failed(volumeId, failure);
        this.#unstaging.want();
      },
      timed: timedOperations(options),
      clock: options.clock,
    });
    this.#updates = startUpdates({
      clock: options.clock,
      log: options.log,
      update: (podUid) => this.#bringUpToDate(podUid),
      nameOf: (podUid) => nameOf(this.#pods.get(podUid)?.pod),
    });
    const changed = (podUid: string) => this.#pods.has(podUid) && this.#updates.want(podUid);
    options.metrics?.countVolumes(() => countVolumes(this.#pods.values()));
    const republish = options.csi === undefined ? [] : [options.csi.listenToRepublish(changed)];
    const certificates = options.podCertificates === undefined ? [] : [options.podCertificates.listen(changed)];
    this.#listening = [options.references.listen(changed), options.tokens.listen(changed), ...republish, ...certificates];
  }

  async mount(pod: Pod, signal: AbortSignal): Promise<ReadonlyMap<string, MountedVolume>> {
    signal.throwIfAborted();
    const podUid = uidOf(pod);
    const mounted = this.#pods.get(podUid) ?? this.#begin(podUid, pod);
    this.#replace(mounted, pod);
    const missing = (): readonly Volume[] => usedVolumes(pod).filter(({ name }) => !mounted.volumes.has(name));
    if (missing().length === 0) return mounted.volumes;
    return this.#turns.run(podUid, async () => {
      const either = anySignal(signal, mounted.stop.signal) ?? signal;
      const results = await Promise.allSettled(missing().map((volume) => this.#mountOne(mounted, volume, either)));
      signal.throwIfAborted();
      const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
      const limitOf = reachedLimit(errors);
      if (limitOf !== undefined) {
        this.#options.csi?.limitReached(limitOf);
        throw limitError(errors, missing());
      }
      if (errors.length > 0) throw mountError(errors, missing());
      return mounted.volumes;
    });
  }

  async report(podUid: string, volumeName: string): Promise<VolumeReport | undefined> {
    const mounted = this.#pods.get(podUid);
    const [placed, volume] = [mounted?.placed.get(volumeName), mounted?.volumes.get(volumeName)];
    if (placed === undefined || volume === undefined) return undefined;
    return placed.plugin.usage?.(placed.podVolume, volume, this.#node);
  }

  volumesInUse(): readonly string[] {
    return this.#staged.attachable();
  }

  mounted(podUid: string): ReadonlyMap<string, MountedVolume> | undefined {
    return this.#pods.get(podUid)?.volumes;
  }

  update(pod: Pod): void {
    const mounted = this.#pods.get(uidOf(pod));
    if (mounted !== undefined) this.#replace(mounted, pod);
  }

  async subPath(pod: Pod, container: Container | EphemeralContainer, mount: VolumeMount, expanded: string): Promise<string> {
    checkSubPath(expanded);
    const podUid = uidOf(pod);
    const volume = this.#pods.get(podUid)?.volumes.get(mount.name);
    if (volume === undefined)
      throw new ContainerConfigError(`cannot find volume "${mount.name}" to mount into container "${container.name}"`);
    if (expanded === "") return volume.path;
    const index = (container.volumeMounts ?? []).findIndex(({ mountPath }) => mountPath === mount.mountPath);
    const place = { volume: mount.name, container: container.name };
    const target = this.#directories.subPath(podUid, { ...place, index });
    return mountSubPath({ ...place, volumePath: volume.path, path: expanded, target }, this.#options.log);
  }

  async unmount(podUid: string, { keepsFiles } = { keepsFiles: false }): Promise<void> {
    const directory = this.#directories.pod(podUid);
    const inUse = this.#staged.attachable().length;
    this.#pods.get(podUid)?.stop.abort(NOT_NEEDED);
    this.#pods.delete(podUid);
    this.#updates.forget(podUid);
    this.#options.tokens.forget(podUid);
    this.#options.podCertificates?.forget(podUid);
    await this.#turns.run(podUid, async () => {
      // SubPaths first: they are mounts of parts of volumes.
      await unmountUnder(this.#directories.subPaths(podUid));
      await this.#setUp.unmountAll(podUid);
      // Mounts that containers left. Always before removing files: a mount may be a directory of the host, whose contents would be deleted.
      await unmountUnder(directory);
      if (!keepsFiles) await removeTree(directory);
    });
    if (this.#staged.attachable().length !== inUse) this.#reportUnused();
  }

  pods(): Promise<readonly string[]> {
    return namesIn(this.#directories.pods);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    for (const { stop } of this.#pods.values()) stop.abort(NOT_NEEDED);
    this.#pods.clear();
    await this.#checks[Symbol.asyncDispose]();
    await this.#unstaging[Symbol.asyncDispose]();
    await this.#updates[Symbol.asyncDispose]();
    await this.#turns.ended();
  }

  #begin(podUid: string, pod: Pod): MountedPod {
    const mounted = {
      pod,
      volumes: new Map<string, MountedVolume>(),
      placed: new Map<string, PlacedVolume>(),
      stop: new AbortController(),
    };
    this.#pods.set(podUid, mounted);
    return mounted;
  }

  #replace(mounted: MountedPod, pod: Pod): void {
    const { labels, annotations } = mounted.pod.metadata;
    const isShownDifferently = !deepEqual(labels, pod.metadata.labels) || !deepEqual(annotations, pod.metadata.annotations);
    mounted.pod = pod;
    if (isShownDifferently && mounted.volumes.size > 0) this.#updates.want(uidOf(pod));
  }

  async #mountOne(mounted: MountedPod, volume: Volume, signal: AbortSignal): Promise<void> {
    const placed = await this.#setUp.place(mounted.pod, volume, signal).catch((error: unknown) => {
      throw error instanceof ClaimError ? error : failedSetUp(volume.name, error);
    });
    try {
      const volumeOfPod = await this.#setUp.setUp(placed, signal);
      // A volume that cannot be grown is used as it is: the failure is an Event, and is retried.
      await this.#expansion?.expandIfDue(placed, signal).catch((error: unknown) => this.#cannotGrow(mounted.pod, volume, error));
      const { claim } = placed.podVolume.persistent ?? {};
      const { namespace = "", name = "" } = claim?.metadata ?? {};
      mounted.volumes.set(volume.name, claim === undefined ? volumeOfPod : { ...volumeOfPod, claim: { namespace, name } });
      mounted.placed.set(volume.name, placed);
      this.#checks.want();
    } catch (error) {
      throw failedSetUp(placed.podVolume.volumeName, error);
    }
  }

  /** Mounted volumes with a claim that this node may have to grow. */
  #expandable(): readonly { readonly mounted: MountedPod; readonly volume: Volume }[] {
    return [...this.#pods.values()].flatMap((mounted) =>
      usedVolumes(mounted.pod)
        .filter((volume) => isClaimed(volume) && mounted.placed.get(volume.name)?.plugin.expand !== undefined)
        .map((volume) => ({ mounted, volume })),
    );
  }

  /** Mounted volumes that a controller attached. */
  #attached(): readonly { readonly mounted: MountedPod; readonly placed: PlacedVolume }[] {
    return [...this.#pods.values()].flatMap((mounted) =>
      [...mounted.placed.values()].filter(({ podVolume }) => this.#staged.isAttachable(podVolume)).map((placed) => ({ mounted, placed })),
    );
  }

  async #recheckAttachments(signal: AbortSignal): Promise<void> {
    for (const { mounted, placed } of this.#attached()) {
      const either = anySignal(signal, mounted.stop.signal) ?? signal;
      try {
        await this.#setUp.recheckAttachment(placed, either);
      } catch (error) {
        const { pod, volumeName } = placed.podVolume;
        if (!either.aborted)
          this.#options.log.warn("Cannot read whether a volume is attached; retrying", { pod: nameOf(pod), volume: volumeName, error });
      }
    }
  }

  async #expandAll(signal: AbortSignal): Promise<void> {
    const { references } = this.#options;
    for (const { mounted, volume } of this.#expansion === undefined ? [] : this.#expandable()) {
      const { pod, stop } = mounted;
      const either = anySignal(signal, stop.signal) ?? signal;
      try {
        const name = volumeClaimName(pod.metadata.name, volume) ?? "";
        const claim = await references.persistentVolumeClaim(pod.metadata.namespace ?? "", name, either);
        if (claim === undefined || !mayHaveGrown(claim)) continue;
        await this.#turns.run(uidOf(pod), async () => {
          // Unmounted by now.
          if (stop.signal.aborted) return;
          await this.#expansion?.expandIfDue(await this.#setUp.place(pod, volume, either), either);
        });
      } catch (error) {
        if (!either.aborted) this.#cannotGrow(pod, volume, error);
      }
    }
  }

  #cannotGrow(pod: Pod, volume: Volume, error: unknown): void {
    this.#options.log.warn("Cannot grow a volume; retrying", { pod: nameOf(pod), volume: volume.name, error });
  }

  /** So that a controller may detach what is unused now. */
  #reportUnused(): void {
    this.#options.reportVolumesInUse?.().catch(() => undefined); // Reported later.
  }

  /** A controller must not detach a volume that is shown here. */
  async #reportInUse(volumeId: string): Promise<void> {
    const shown = (await this.#options.reportVolumesInUse?.()) ?? [];
    if (shown.includes(volumeId)) return;
    throw new VolumeError("Volume has not been added to the list of VolumesInUse in the node's volume status");
  }

  /** Refreshes all file volumes that the Pod currently has. Rejects with the first failure, after all were tried. */
  async #bringUpToDate(podUid: string): Promise<void> {
    await this.#turns.run(podUid, async () => {
      const mounted = this.#pods.get(podUid);
      if (mounted === undefined) return;
      const { pod, placed, stop } = mounted;
      const present = usedVolumes(pod).filter((volume) => placed.get(volume.name)?.plugin.refresh !== undefined);
      const refresh = async (volume: Volume) => this.#setUp.setUp(await this.#setUp.place(pod, volume, stop.signal), stop.signal);
      const results = await Promise.allSettled(present.map(refresh));
      // A terminating Pod keeps its contents: their sources may be deleted with its namespace.
      if (stop.signal.aborted || mounted.pod.metadata.deletionTimestamp !== undefined) return;
      for (const result of results) if (result.status === "rejected") throw result.reason;
    });
  }
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}

function nameOf(pod: Pod | undefined): string {
  return `${pod?.metadata.namespace ?? ""}/${pod?.metadata.name ?? ""}`;
}
