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
import { findPlugin } from "../../volumes/framework/find-plugin.ts";
import { PARENT_MODE } from "../../volumes/framework/volume-directory.ts";
import type { VolumeNode, VolumePlugin } from "../../volumes/framework/volume-plugin.ts";
import type { KubeletMetrics, StorageOperation, VolumeCounts } from "../../kubelet-metrics.ts";
import { linuxMounter } from "./linux-mounter.ts";
import { PodDirectories } from "./pod-directories.ts";
import { checkSubPath, mountSubPath } from "./sub-paths.ts";
import { startUpdates, type Updates } from "./updates.ts";

export interface PodVolumesOptions {
  /** For example /var/lib/kubelet. Created if missing. */
  readonly rootDirectory: string;
  readonly references: Pick<References, "configMap" | "secret" | "listen">;
  readonly tokens: Pick<ServiceAccountTokens, "token" | "forget" | "listen">;
  /** The node's current allocatable resources. */
  nodeAllocatable(): ResourceList;
  readonly metrics?: Pick<KubeletMetrics, "storageOperation" | "countVolumes">;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function startPodVolumes(options: PodVolumesOptions): Promise<PodVolumes> {
  await makeDirectories(options.rootDirectory, PARENT_MODE);
  return new PodVolumesOnDisk(options, new PodDirectories(await realPathOf(options.rootDirectory)));
}

interface MountedPod {
  pod: Pod;
  readonly volumes: Map<string, MountedVolume>;
  /** Aborted when it is to be unmounted. */
  readonly stop: AbortController;
}

class PodVolumesOnDisk implements PodVolumes {
  readonly #options: PodVolumesOptions;
  readonly #directories: PodDirectories;
  readonly #pods = new Map<string, MountedPod>();
  /** Pending operations per Pod uid, serialized. */
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #updates: Updates;
  readonly #listening: readonly Disposable[];
  readonly #node: VolumeNode;

  constructor(options: PodVolumesOptions, directories: PodDirectories) {
    this.#options = options;
    this.#node = { ...options, nodeAllocatable: () => options.nodeAllocatable(), mounter: linuxMounter(options.clock) };
    this.#directories = directories;
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
    return this.#inTurn(podUid, async () => {
      const either = anySignal(signal, mounted.stop.signal) ?? signal;
      const results = await Promise.allSettled(missing().map((volume) => this.#mountOne(mounted, volume, either)));
      signal.throwIfAborted();
      for (const result of results) if (result.status === "rejected") throw result.reason;
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
    for (const { pod, volumes } of this.#pods.values()) {
      for (const volume of usedVolumes(pod)) {
        // A volume without a plugin is an event of its Pod, and not counted.
        const plugin = all.find(({ source }) => Object.hasOwn(volume, source));
        if (plugin === undefined) continue;
        const name = pluginName(plugin);
        const count = counts.get(name) ?? { desired: 0, actual: 0 };
        counts.set(name, { desired: count.desired + 1, actual: count.actual + (volumes.has(volume.name) ? 1 : 0) });
      }
    }
    return counts;
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
    await this.#inTurn(podUid, async () => {
      // SubPaths first: they are mounts of parts of volumes.
      await unmountUnder(this.#directories.subPaths(podUid));
      await this.#unmountVolumes(podUid);
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
    await Promise.allSettled(this.#turns.values());
  }

  #begin(podUid: string, pod: Pod): MountedPod {
    const mounted = { pod, volumes: new Map<string, MountedVolume>(), stop: new AbortController() };
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
    try {
      mounted.volumes.set(volume.name, await this.#setUp(mounted.pod, volume, signal));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new MountError(`MountVolume.SetUp failed for volume "${volume.name}" : ${why}`, { cause: error });
    }
  }

  /** Mounts a volume, or refreshes it if it is mounted already. */
  async #setUp(pod: Pod, volume: Volume, signal: AbortSignal): Promise<MountedVolume> {
    const plugin = findPlugin(all, volume);
    const podVolume = { pod, volume, ...this.#directories.volume(uidOf(pod), plugin.directory, volume.name) };
    const mounted = await plugin.reconstruct(podVolume, this.#node);
    if (mounted !== undefined && plugin.refresh === undefined) return mounted;
    const resolved = await plugin.resolve(podVolume, this.#node, signal);
    if (mounted === undefined) return this.#timed("volume_mount", plugin, () => plugin.mount(podVolume, resolved, this.#node));
    await plugin.refresh?.(podVolume, resolved, this.#node);
    return mounted;
  }

  /** Unmounts every volume that is found on disk: the Pod object may no longer exist. */
  async #unmountVolumes(podUid: string): Promise<void> {
    const found = await namesIn(this.#directories.volumes(podUid));
    for (const plugin of all.filter(({ directory }) => found.includes(directory))) {
      const { path: parent } = this.#directories.volume(podUid, plugin.directory, "");
      for (const name of await namesIn(parent))
        await this.#timed("volume_unmount", plugin, () =>
          plugin.unmount(this.#directories.volume(podUid, plugin.directory, name), this.#node),
        );
    }
  }

  /** Refreshes all file volumes that the Pod currently has. Rejects with the first failure, after all were tried. */
  async #bringUpToDate(podUid: string): Promise<void> {
    await this.#inTurn(podUid, async () => {
      const mounted = this.#pods.get(podUid);
      if (mounted === undefined) return;
      const { pod, volumes, stop } = mounted;
      const present = usedVolumes(pod).filter((volume) => volumes.has(volume.name) && findPlugin(all, volume).refresh !== undefined);
      const results = await Promise.allSettled(present.map((volume) => this.#setUp(pod, volume, stop.signal)));
      // A terminating Pod keeps its contents: their sources may be deleted with its namespace.
      if (stop.signal.aborted || mounted.pod.metadata.deletionTimestamp !== undefined) return;
      for (const result of results) if (result.status === "rejected") throw result.reason;
    });
  }

  #inTurn<T>(podUid: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(podUid);
    const turn = before === undefined ? work() : before.then(work, work);
    // The next operation does not depend on the result.
    const ended = turn.then(
      () => undefined,
      () => undefined,
    );
    this.#turns.set(podUid, ended);
    void ended.then(() => this.#turns.get(podUid) === ended && this.#turns.delete(podUid));
    return turn;
  }
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
