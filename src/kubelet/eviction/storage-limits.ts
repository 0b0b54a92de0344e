/**
 * Whether a Pod uses more local storage than it may, with upstream's messages: `sizeLimit` of its emptyDirs, then the limits of
 * `ephemeral-storage` of the whole Pod, then those of its containers. Pure. Not here: measuring and evicting (storage-eviction.ts).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { readQuantity } from "../../api/core/v1/pod/resource-list.ts";
import { podLimits } from "../../api/core/v1/resource-quota/pod-demand.ts";
import { formatQuantity, quantityToNumber } from "../../api/machinery/quantity.ts";
import type { PodStorage } from "../contracts/pod-storage.ts";
import type { ContainerStats } from "../contracts/runtime.ts";

const RESOURCE = "ephemeral-storage";

/** Label of the metric kubelet_evictions. */
export type StorageSignal = "emptydirfs.limit" | "ephemeralpodfs.limit" | "ephemeralcontainerfs.limit";

export interface Eviction {
  readonly signal: StorageSignal;
  readonly message: string;
}

export interface LocalUsage {
  readonly storage: PodStorage;
  readonly containers: readonly Pick<ContainerStats, "name" | "writableLayerBytes">[];
}

/** Whether the Pod has any such limit: only then its usage is measured. */
export function hasStorageLimit({ spec }: Pod): boolean {
  const isLimited = [...(spec?.containers ?? []), ...(spec?.initContainers ?? [])].some(
    ({ resources }) => resources?.limits?.[RESOURCE] !== undefined,
  );
  return isLimited || (spec?.volumes ?? []).some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined);
}

/** Undefined if the Pod is within its limits. */
export function evictionOf(pod: Pod, usage: LocalUsage): Eviction | undefined {
  return emptyDirEviction(pod, usage) ?? podEviction(pod, usage) ?? containerEviction(pod, usage);
}

function emptyDirEviction({ spec }: Pod, { storage }: LocalUsage): Eviction | undefined {
  for (const { name, emptyDir } of spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const usedBytes = storage.volumes.find((volume) => volume.name === name)?.used?.usedBytes;
    if (limit === undefined || usedBytes === undefined || !isExceeded(limit, usedBytes)) continue;
    return { signal: "emptydirfs.limit", message: `Usage of EmptyDir volume "${name}" exceeds the limit "${canonical(limit)}". ` };
  }
  return undefined;
}

function podEviction(pod: Pod, usage: LocalUsage): Eviction | undefined {
  const limit = podLimits(pod).get(RESOURCE);
  if (limit === undefined) return undefined;
  const { storage, containers } = usage;
  const parts = [
    ...containers.map(({ writableLayerBytes }) => writableLayerBytes),
    ...[...storage.logs.values()].map(({ usedBytes }) => usedBytes),
    ...storage.volumes.filter(({ isEphemeral }) => isEphemeral).map(({ used }) => used?.usedBytes),
    storage.hostsFile?.usedBytes,
  ];
  const usedBytes = parts.reduce((sum: number, part) => sum + (part ?? 0), 0);
  if (usedBytes <= quantityToNumber(limit)) return undefined;
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${formatQuantity(limit)}. `;
  return { signal: "ephemeralpodfs.limit", message };
}

function containerEviction({ spec }: Pod, { storage, containers }: LocalUsage): Eviction | undefined {
  for (const { name, writableLayerBytes = 0 } of containers) {
    const limit = spec?.containers.find((container) => container.name === name)?.resources?.limits?.[RESOURCE];
    const usedBytes = writableLayerBytes + (storage.logs.get(name)?.usedBytes ?? 0);
    if (limit === undefined || !isExceeded(limit, usedBytes)) continue;
    return {
      signal: "ephemeralcontainerfs.limit",
      message: `Container ${name} exceeded its local ephemeral storage limit "${canonical(limit)}". `,
    };
  }
  return undefined;
}

/** A limit of 0 is none. */
function isExceeded(limit: string, usedBytes: number): boolean {
  const bytes = quantityToNumber(readQuantity(limit));
  return bytes > 0 && usedBytes > bytes;
}

function canonical(quantity: string): string {
  return formatQuantity(readQuantity(quantity));
}
