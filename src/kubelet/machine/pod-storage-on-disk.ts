/**
 * Measures the disk usage of Pods on request. Walking a volume is costly, so results are cached for a minute, as upstream's; a volume over
 * the file limit has no usage at all, since a partial one would be wrong.
 */
import type { Pod, Volume } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import { directoryUsage } from "../../host/files/directory-usage.ts";
import { joinPath } from "../../host/files/files.ts";
import { diskUsage } from "../../host/kernel/machine-usage.ts";
import { namesIn } from "../../host/files/shared-directory.ts";
import type { PodStorage, TreeUsage, VolumeCondition, VolumeUsage } from "../contracts/pod-storage.ts";
import type { MountedVolume, PodVolumes } from "../contracts/pod-volumes.ts";
import { podLogDirectory } from "../container-config/sandbox.ts";

/** Upstream's volumeStatsAggPeriod. */
export const VOLUME_USAGE_KEPT_MS = 60_000;
/** Files per volume: a few seconds of walking. */
const VOLUME_ENTRIES_MAX = 100_000;
/** Cache entries: more volumes than a node has. */
const VOLUMES_MAX = 4_096;

export interface PodStorageOptions {
  readonly volumes: Pick<PodVolumes, "mounted" | "report">;
  readonly directories: { readonly logs: string; readonly pods: string };
  /** Called once when a driver reports a volume of the Pod as abnormal, and again when its message changes. Absent: no Event. */
  abnormal?(pod: Pod, volume: { readonly name: string; readonly message: string }): void;
  readonly clock: Clock;
}

export class PodStorageOnDisk {
  readonly #options: PodStorageOptions;
  readonly #known = new Lru<string, { readonly used: Promise<TreeUsage | undefined>; readonly untilMs: number }>({ max: VOLUMES_MAX });

  /** Messages of abnormal volumes that were reported, by Pod and volume. */
  readonly #abnormal = new Lru<string, string>({ max: VOLUMES_MAX });

  constructor(options: PodStorageOptions) {
    this.#options = options;
  }

  /** Sequential, to leave disk bandwidth to others. */
  async of(pod: Pod): Promise<PodStorage> {
    const { pods } = this.#options.directories;
    const volumes: VolumeUsage[] = [];
    for (const volume of pod.spec?.volumes ?? []) {
      const found = await this.#volume(pod, volume);
      if (found !== undefined) volumes.push(found);
    }
    const hostsFile = await fileUsage(joinPath(pods, pod.metadata.uid ?? "", "etc-hosts"));
    return { volumes, logs: await this.#logs(pod), ...(hostsFile === undefined ? {} : { hostsFile }) };
  }

  /** Undefined for volumes that are not the Pod's own (hostPath) or do not exist yet. */
  async #volume(pod: Pod, volume: Volume): Promise<VolumeUsage | undefined> {
    const { metadata } = pod;
    const mounted = this.#options.volumes.mounted(metadata.uid ?? "")?.get(volume.name);
    if (mounted === undefined) return undefined;
    if (mounted.claim !== undefined) return this.#claimed(pod, volume.name, mounted);
    // An image is measured as such, and not with each Pod that shows it.
    if (mounted.isExternal || volume.image !== undefined) return undefined;
    const filesystem = await diskUsage(mounted.path).catch(() => undefined);
    if (filesystem === undefined) return undefined;
    const used = await this.#used(mounted.path);
    return { name: volume.name, isEphemeral: mounted.isEphemeral, filesystem, ...(used === undefined ? {} : { used }) };
  }

  /** A claim has a file system of its own, or one that its provisioner accounts for: its tree is not walked. */
  async #claimed(pod: Pod, name: string, { path, claim, isExternal, isBlockDevice }: MountedVolume): Promise<VolumeUsage | undefined> {
    const report = await this.#options.volumes.report(pod.metadata.uid ?? "", name).catch(() => undefined);
    this.#reportHealth(pod, name, report?.condition);
    const isMeasurable = !isExternal && isBlockDevice !== true;
    const filesystem = report?.filesystem ?? (isMeasurable ? await diskUsage(path).catch(() => undefined) : undefined);
    if (filesystem === undefined || claim === undefined) return undefined;
    const { usedBytes, inodesUsed } = filesystem;
    const used = inodesUsed === undefined ? { usedBytes } : { usedBytes, inodesUsed };
    const condition = report?.condition === undefined ? {} : { condition: report.condition };
    return { name, isEphemeral: false, filesystem, used, claim, ...condition };
  }

  #reportHealth(pod: Pod, name: string, { isAbnormal, message }: VolumeCondition = { isAbnormal: false, message: "" }): void {
    const key = `${pod.metadata.uid ?? ""}/${name}`;
    if (!isAbnormal) {
      this.#abnormal.delete(key);
      return;
    }
    if (this.#abnormal.get(key) === message) return;
    this.#abnormal.set(key, message);
    this.#options.abnormal?.(pod, { name, message });
  }

  #used(path: string): Promise<TreeUsage | undefined> {
    const nowMs = this.#options.clock.monotonic();
    const known = this.#known.get(path);
    if (known !== undefined && nowMs < known.untilMs) return known.used;
    const used = directoryUsage(path, { entriesMax: VOLUME_ENTRIES_MAX });
    this.#known.set(path, { used, untilMs: nowMs + VOLUME_USAGE_KEPT_MS });
    return used;
  }

  async #logs(pod: Pod): Promise<ReadonlyMap<string, TreeUsage>> {
    const directory = podLogDirectory(pod, this.#options.directories.logs);
    const found = new Map<string, TreeUsage>();
    for (const container of await namesIn(directory).catch(() => [])) {
      const files = await namesIn(joinPath(directory, container)).catch(() => []);
      const usages = await Promise.all(files.map((file) => fileUsage(joinPath(directory, container, file))));
      found.set(container, sumOf(usages));
    }
    return found;
  }
}

function fileUsage(path: string): Promise<TreeUsage | undefined> {
  return directoryUsage(path, { entriesMax: 0 });
}

function sumOf(usages: readonly (TreeUsage | undefined)[]): TreeUsage {
  const sum = (of: (usage: TreeUsage) => number): number =>
    usages.reduce((total, usage) => total + (usage === undefined ? 0 : of(usage)), 0);
  return { usedBytes: sum(({ usedBytes }) => usedBytes), inodesUsed: sum(({ inodesUsed }) => inodesUsed) };
}
