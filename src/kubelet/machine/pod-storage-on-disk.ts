/**
 * What Pods take of this machine's disks, counted when somebody asks. Looking through a volume costs, so what was found is good for a
 * minute, as upstream's; what is larger than the limit is not counted at all, since what was counted of it would be wrong.
 */
import type { Pod, Volume } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import { Lru } from "../../base/lru.ts";
import { directoryUsage } from "../../host/files/directory-usage.ts";
import { joinPath } from "../../host/files/files.ts";
import { diskUsage } from "../../host/kernel/machine-usage.ts";
import { namesIn } from "../../host/files/shared-directory.ts";
import type { PodStorage, TreeUsage, VolumeUsage } from "../contracts/pod-storage.ts";
import type { PodVolumes } from "../contracts/pod-volumes.ts";
import { podLogDirectory } from "../container-config/sandbox.ts";

/** Upstream's volumeStatsAggPeriod. */
export const VOLUME_USAGE_KEPT_MS = 60_000;
/** Of one volume: a few seconds of looking. */
const VOLUME_ENTRIES_MAX = 100_000;
/** Of which numbers are kept: more than a node has. */
const VOLUMES_MAX = 4_096;

export interface PodStorageOptions {
  readonly volumes: Pick<PodVolumes, "mounted">;
  readonly directories: { readonly logs: string; readonly pods: string };
  readonly clock: Clock;
}

export class PodStorageOnDisk {
  readonly #options: PodStorageOptions;
  readonly #known = new Lru<string, { readonly used: Promise<TreeUsage | undefined>; readonly untilMs: number }>({ max: VOLUMES_MAX });

  constructor(options: PodStorageOptions) {
    this.#options = options;
  }

  /** One after the other: others want to read the disks, too. */
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

  /** Undefined of what is not the Pod's (hostPath), and of what is not there yet. */
  async #volume({ metadata }: Pod, volume: Volume): Promise<VolumeUsage | undefined> {
    const mounted = this.#options.volumes.mounted(metadata.uid ?? "")?.get(volume.name);
    if (mounted === undefined || mounted.isExternal) return undefined;
    const filesystem = await diskUsage(mounted.path).catch(() => undefined);
    if (filesystem === undefined) return undefined;
    const used = await this.#used(mounted.path);
    return { name: volume.name, isEphemeral: mounted.isEphemeral, filesystem, ...(used === undefined ? {} : { used }) };
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
