/**
 * Evicts Pods that use more local storage than their limits. Usage is measured periodically, and only of Pods that have such a limit; one
 * that cannot be measured is left alone. Not here: the limits and messages (storage-limits.ts), terminating the Pod (pod/).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { PodStorageSource } from "../contracts/pod-storage.ts";
import type { PodStats } from "../contracts/runtime.ts";
import { repeating } from "./eviction-manager.ts";
import { isCritical } from "./rank-pods.ts";
import { evictionOf, hasStorageLimit, type StorageSignal } from "./storage-limits.ts";

/** Upstream's monitoringInterval of the eviction manager. */
const INTERVAL_MS = 10_000;

export interface StorageEvictionOptions {
  /** Pods of this node that run. */
  pods(): readonly Pod[];
  readonly storageOf: PodStorageSource;
  /** Usage of the running containers. */
  stats(): Promise<readonly PodStats[]>;
  evict(podUid: string, message: string): void;
  readonly metrics?: { evicted(signal: StorageSignal): void };
  readonly clock: Clock;
  readonly log: Logger;
}

export function startStorageEviction(options: StorageEvictionOptions): AsyncDisposable {
  return repeating(() => evictExceeding(options), { ...options, everyMs: INTERVAL_MS, what: "Measuring the local storage of Pods" });
}

/** One pass over all Pods with limits. */
export async function evictExceeding({ pods, storageOf, stats, evict, metrics, log }: StorageEvictionOptions): Promise<void> {
  const limited = pods().filter((pod) => hasStorageLimit(pod) && !isCritical(pod));
  if (limited.length === 0) return;
  const byUid = new Map((await stats()).map((of) => [of.podUid, of]));
  for (const pod of limited) {
    const uid = pod.metadata.uid ?? "";
    const storage = await storageOf(pod).catch(() => undefined); // It is being removed.
    const eviction = storage && evictionOf(pod, { storage, containers: byUid.get(uid)?.containers ?? [] });
    if (eviction === undefined) continue;
    log.info("Evicting a Pod that exceeds its limit of local storage", { pod: `${pod.metadata.namespace}/${pod.metadata.name}` });
    metrics?.evicted(eviction.signal);
    evict(uid, eviction.message);
  }
}
