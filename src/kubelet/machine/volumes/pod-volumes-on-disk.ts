/**
 * Mounts the volumes of this node's Pods through the plugins of kubelet/volumes and refreshes them while they are mounted. State is read
 * from the disk and from the kernel's mount table, so a kubelet that restarts, or was killed, continues where the last one stopped.
 * Operations on one Pod are serialized. A refresh that fails keeps the old contents and is retried.
 *
 * Not here: the volume kinds (kubelet/volumes), and which Pods exist. The caller registers a Pod with the references before mounting it.
 */
import type { Container, EphemeralContainer, Pod, Volume, VolumeMount } from "../../../api/generated/core/v1.ts";
import type { ResourceList } from "../../../api/core/v1/pod/resource-list.ts";
import { anySignal, NOT_NEEDED } from "../../../base/abort.ts";
import type { Clock } from "../../../base/clock.ts";
import { deepEqual } from "../../../base/deep.ts";
import type { Logger } from "../../../base/logger.ts";
import { makeDirectories, namesIn, realPathOf, removeTree } from "../../../host/files/shared-directory.ts";
import { unmountUnder } from "../../../host/kernel/mounts.ts";
import { ContainerConfigError, MountError } from "../../contracts/pod-machine.ts";
import type { MountedVolume, PodVolumes } from "../../contracts/pod-volumes.ts";
import type { References } from "../../references/references.ts";
import type { ServiceAccountTokens } from "../../references/service-account-tokens.ts";
import { usedVolumes } from "../../pod/used-volumes.ts";
import { all } from "../../volumes/all.ts";
import { ClaimError, NodeAffinityError } from "../../volumes/framework/claimed-volume.ts";
import { PARENT_MODE } from "../../volumes/framework/volume-directory.ts";
import { VolumeError } from "../../volumes/framework/volume-error.ts";
import type { VolumePlugin, VolumeReferences } from "../../volumes/framework/volume-plugin.ts";
import type { KubeletMetrics, StorageOperation, VolumeCounts } from "../../kubelet-metrics.ts";
import { KeyedTurns } from "./keyed-turns.ts";
import { linuxMounter } from "./linux-mounter.ts";
import { PodDirectories } from "./pod-directories.ts";
import { StagedVolumes } from "./staged-volumes.ts";
import { checkSubPath, mountSubPath } from "./sub-paths.ts";
import { startUpdates, type Updates } from "./updates.ts";
import { VolumeSetUp } from "./volume-set-up.ts";

export interface PodVolumesOptions {
  /** For example /var/lib/kubelet. Created if missing. */
  readonly rootDirectory: string;
  readonly nodeName: string;
  readonly references: VolumeReferences & Pick<References, "listen">;
  readonly tokens: Pick<ServiceAccountTokens, "token" | "forget" | "listen">;
  /** The node's current allocatable resources. */
  nodeAllocatable(): ResourceList;
  /**
   * Writes `volumesInUse` to the Node's status; resolves with the names that it shows now. Absent: no controller attaches volumes to this
   * node.
   */
  reportVolumesInUse?(signal: AbortSignal): Promise<readonly string[]>;
  readonly metrics?: Pick<KubeletMetrics, "storageOperation" | "countVolumes">;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function startPodVolumes(options: PodVolumesOptions): Promise<PodVolumes> {
  await makeDirectories(options.rootDirectory, PARENT_MODE);
  const directories = new PodDirectories(await realPathOf(options.rootDirectory));
  return new PodVolumesOnDisk(options, directories, await StagedVolumes.open(directories, options.log));
}

interface MountedPod {
  pod: Pod;
  readonly volumes: Map<string, MountedVolume>;
  /** Plugins of the mounted volumes, by name of the volume. */
  readonly plugins: Map<string, VolumePlugin>;
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
  readonly #setUp: VolumeSetUp;

  constructor(options: PodVolumesOptions, directories: PodDirectories, staged: StagedVolumes) {
    this.#options = options;
    this.#directories = directories;
    this.#staged = staged;
    this.#setUp = new VolumeSetUp({
      node: {
        ...options,
        nodeAllocatable: () => options.nodeAllocatable(),
        pluginsDirectory: directories.plugins,
        mounter: linuxMounter(options.clock),
      },
      directories,
      staged,
      reportInUse: (volumeId, signal) => this.#reportInUse(volumeId, signal),
      timed: (operation, plugin, run) => this.#timed(operation, plugin, run),
    });
    this.#updates = startUpdates({
      clock: options.clock,
      log: options.log,
      update: (podUid) => this.#bringUpToDate(podUid),
      nameOf: (podUid) => nameOf(this.#pods.get(podUid)?.pod),
    });
    const changed = (podUid: string) => this.#pods.has(podUid) && this.#updates.want(podUid);
    options.metrics?.countVolumes(() => this.#counts());
    this.#listening = [options.references.listen(changed), options.tokens.listen(changed)];
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
      if (errors.length > 0) throw mountError(errors, missing());
      return mounted.volumes;
    });
  }

  async #timed<T>(operation: StorageOperation["operation"], plugin: VolumePlugin, run: () => Promise<T>): Promise<T> {
    const { clock, metrics } = this.#options;
    const startedMs = clock.monotonic();
    const ended = (isFailed: boolean): void =>
      metrics?.storageOperation({ operation, plugin: pluginName(plugin), durationMs: clock.monotonic() - startedMs, isFailed });
    try {
      const result = await run();
      ended(false);
      return result;
    } catch (error) {
      ended(true);
      throw error;
    }
  }

  #counts(): VolumeCounts {
    const counts = new Map<string, { desired: number; actual: number }>();
    for (const { pod, plugins } of this.#pods.values()) {
      for (const volume of usedVolumes(pod)) {
        const plugin = plugins.get(volume.name) ?? pluginIfAny(volume);
        // A volume without a plugin is an event of its Pod, and not counted.
        if (plugin === undefined) continue;
        const name = pluginName(plugin);
        const count = counts.get(name) ?? { desired: 0, actual: 0 };
        counts.set(name, { desired: count.desired + 1, actual: count.actual + (plugins.has(volume.name) ? 1 : 0) });
      }
    }
    return counts;
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
    this.#pods.get(podUid)?.stop.abort(NOT_NEEDED);
    this.#pods.delete(podUid);
    this.#updates.forget(podUid);
    this.#options.tokens.forget(podUid);
    await this.#turns.run(podUid, async () => {
      // SubPaths first: they are mounts of parts of volumes.
      await unmountUnder(this.#directories.subPaths(podUid));
      await this.#setUp.unmountAll(podUid);
      // Mounts that containers left. Always before removing files: a mount may be a directory of the host, whose contents would be deleted.
      await unmountUnder(directory);
      if (!keepsFiles) await removeTree(directory);
    });
  }

  pods(): Promise<readonly string[]> {
    return namesIn(this.#directories.pods);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    for (const { stop } of this.#pods.values()) stop.abort(NOT_NEEDED);
    this.#pods.clear();
    await this.#updates[Symbol.asyncDispose]();
    await this.#turns.ended();
  }

  #begin(podUid: string, pod: Pod): MountedPod {
    const mounted = {
      pod,
      volumes: new Map<string, MountedVolume>(),
      plugins: new Map<string, VolumePlugin>(),
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
      mounted.volumes.set(volume.name, await this.#setUp.setUp(placed, signal));
      mounted.plugins.set(volume.name, placed.plugin);
    } catch (error) {
      throw failedSetUp(placed.podVolume.volumeName, error);
    }
  }

  /** A controller must not detach a volume that is shown here. */
  async #reportInUse(volumeId: string, signal: AbortSignal): Promise<void> {
    const shown = (await this.#options.reportVolumesInUse?.(signal)) ?? [];
    if (shown.includes(volumeId)) return;
    throw new VolumeError("Volume has not been added to the list of VolumesInUse in the node's volume status");
  }

  /** Refreshes all file volumes that the Pod currently has. Rejects with the first failure, after all were tried. */
  async #bringUpToDate(podUid: string): Promise<void> {
    await this.#turns.run(podUid, async () => {
      const mounted = this.#pods.get(podUid);
      if (mounted === undefined) return;
      const { pod, plugins, stop } = mounted;
      const present = usedVolumes(pod).filter((volume) => plugins.get(volume.name)?.refresh !== undefined);
      const refresh = async (volume: Volume) => this.#setUp.setUp(await this.#setUp.place(pod, volume, stop.signal), stop.signal);
      const results = await Promise.allSettled(present.map(refresh));
      // A terminating Pod keeps its contents: their sources may be deleted with its namespace.
      if (stop.signal.aborted || mounted.pod.metadata.deletionTimestamp !== undefined) return;
      for (const result of results) if (result.status === "rejected") throw result.reason;
    });
  }
}

function failedSetUp(name: string, error: unknown): MountError {
  const step = error instanceof NodeAffinityError ? "NodeAffinity check" : "SetUp";
  const why = error instanceof Error ? error.message : String(error);
  return new MountError(`MountVolume.${step} failed for volume "${name}" : ${why}`, { cause: error });
}

/** As upstream, volumes whose claims cannot be used are reported together; of other errors the first one is. */
function mountError(errors: readonly unknown[], unmounted: readonly Volume[]): unknown {
  const ofClaims = errors.filter((error) => error instanceof ClaimError);
  const [first] = errors;
  if (ofClaims.length === 0) return first;
  const names = unmounted.map(({ name }) => name).toSorted();
  const unprocessed = unmounted.filter(({ persistentVolumeClaim, ephemeral }) => (persistentVolumeClaim ?? ephemeral) !== undefined);
  const lists = `unmounted volumes=[${names.join(" ")}], unattached volumes=[], failed to process volumes=[${unprocessed.map(({ name }) => name).join(" ")}]`;
  return new MountError(`Unable to attach or mount volumes: ${lists}: ${ofClaims.map(({ message }) => message).join("; ")}`, {
    cause: first,
  });
}

/** Of a volume that is not mounted. */
function pluginIfAny(volume: Volume): VolumePlugin | undefined {
  return all.find(({ source }) => source !== undefined && Object.hasOwn(volume, source));
}

function uidOf({ metadata }: Pod): string {
  return metadata.uid ?? "";
}

function nameOf(pod: Pod | undefined): string {
  return `${pod?.metadata.namespace ?? ""}/${pod?.metadata.name ?? ""}`;
}

/** "kubernetes.io/configmap" of the directory "kubernetes.io~configmap". */
function pluginName({ directory }: Pick<VolumePlugin, "directory">): string {
  return directory.replace("~", "/");
}
