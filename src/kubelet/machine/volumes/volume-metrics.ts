/** Metrics of volumes: how long operations take, and how many volumes each plugin has. */
import type { Pod, Volume } from "../../../api/generated/core/v1.ts";
import type { Clock } from "../../../base/clock.ts";
import type { KubeletMetrics, StorageOperation, VolumeCounts } from "../../kubelet-metrics.ts";
import { usedVolumes } from "../../pod/used-volumes.ts";
import { all } from "../../volumes/all.ts";
import type { PodVolume, VolumePlugin } from "../../volumes/framework/volume-plugin.ts";

export interface VolumeMetricsOptions {
  readonly clock: Clock;
  readonly metrics?: Pick<KubeletMetrics, "storageOperation" | "countVolumes" | "volumesFound">;
}

/** `plugin` is its full name. */
export type TimedOperation = <T>(operation: StorageOperation["operation"], plugin: string, run: () => Promise<T>) => Promise<T>;

export function timedOperations({ clock, metrics }: VolumeMetricsOptions): TimedOperation {
  return async (operation, plugin, run) => {
    const startedMs = clock.monotonic();
    const ended = (isFailed: boolean): void =>
      metrics?.storageOperation({ operation, plugin, durationMs: clock.monotonic() - startedMs, isFailed });
    try {
      const result = await run();
      ended(false);
      return result;
    } catch (error) {
      ended(true);
      throw error;
    }
  };
}

export interface CountedPod {
  readonly pod: Pod;
  /** The mounted volumes, by name. */
  readonly placed: ReadonlyMap<string, { readonly plugin: VolumePlugin; readonly podVolume: PodVolume }>;
}

export function countVolumes(pods: Iterable<CountedPod>): VolumeCounts {
  const counts = new Map<string, { desired: number; actual: number }>();
  for (const { pod, placed } of pods) {
    for (const volume of usedVolumes(pod)) {
      const { plugin = pluginIfAny(volume), podVolume = { volume } } = placed.get(volume.name) ?? {};
      // A volume without a plugin is an event of its Pod, and not counted.
      if (plugin === undefined) continue;
      const name = fullName(plugin, podVolume);
      const count = counts.get(name) ?? { desired: 0, actual: 0 };
      counts.set(name, { desired: count.desired + 1, actual: count.actual + (placed.has(volume.name) ? 1 : 0) });
    }
  }
  return counts;
}

/** Of a volume that is not mounted. */
function pluginIfAny(volume: Volume): VolumePlugin | undefined {
  return all.find(({ source }) => source !== undefined && Object.hasOwn(volume, source));
}

/** "kubernetes.io/configmap", and with the driver for CSI: "kubernetes.io/csi:driver.example". */
export function fullName(
  plugin: Pick<VolumePlugin, "directory">,
  { volume, persistent }: Pick<PodVolume, "volume" | "persistent">,
): string {
  return withDriver(plugin, persistent?.volume.spec?.csi?.driver ?? volume.csi?.driver);
}

/** Of a volume that is known by its record only: "kubernetes.io/csi/<driver>^<handle>". */
export function recordedName(plugin: Pick<VolumePlugin, "directory">, volumeId: string | undefined): string {
  return withDriver(plugin, /^kubernetes\.io\/csi\/(?<driver>[^^]+)\^/.exec(volumeId ?? "")?.groups?.["driver"]);
}

function withDriver({ directory }: Pick<VolumePlugin, "directory">, driver: string | undefined): string {
  const name = directory.replace("~", "/");
  return driver === undefined ? name : `${name}:${driver}`;
}
