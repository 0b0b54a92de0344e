/**
 * Keeps the node usable when memory, disk or PIDs run out: reports pressure in the Node's conditions, removes exited containers and unused
 * images, and then evicts one Pod after the other until the thresholds are no longer met. Follows upstream's eviction manager. Not here:
 * the decisions (thresholds.ts, pressure.ts, rank-pods.ts), Pods that exceed limits of their own (storage-eviction.ts).
 */
import type { Pod } from "../../api/generated/core/v1.ts";
import { NOT_NEEDED } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import type { RecordedEvent } from "../../client/events/event-recorder.ts";
import type { PodStorageSource } from "../contracts/pod-storage.ts";
import type { PodStats } from "../contracts/runtime.ts";
import { nextPressure, NO_PRESSURE, type PressureState } from "./pressure.ts";
import { evictionMessage, isCritical, measuredParts, rankedPods, type PodUsage } from "./rank-pods.ts";
import { observationsOf, SIGNALS, type NodeUsage, type Observations, type PressureCondition, type Signal } from "./signals.ts";
import { metThresholds, type Threshold } from "./thresholds.ts";

/** Upstream's monitoringInterval. */
const INTERVAL_MS = 10_000;
/** How long the next eviction waits for the last one to have an effect. Upstream's podCleanupTimeout. */
const CLEANUP_MS = 30_000;
const SECOND_MS = 1000;

export interface EvictionManagerOptions {
  readonly thresholds: readonly Threshold[];
  readonly transitionMs: number;
  /** Maximum grace period of Pods that are evicted by a soft threshold. */
  readonly maxPodGraceSeconds: number;
  usage(): Promise<NodeUsage>;
  /** Whether images and writable layers are on another file system than the kubelet's directory. */
  hasImageFilesystem(): Promise<boolean>;
  /** Pods of this node that run. */
  pods(): readonly Pod[];
  stats(): Promise<readonly PodStats[]>;
  readonly storageOf: PodStorageSource;
  /** Removes exited containers and unused images. */
  reclaimDisk(): Promise<void>;
  report(conditions: readonly PressureCondition[]): void;
  evict(podUid: string, eviction: NodeEviction): void;
  /** Records an Event about the Node. */
  record(event: RecordedEvent): void;
  readonly metrics?: { evicted(signal: Signal): void };
  readonly clock: Clock;
  readonly log: Logger;
}

export interface NodeEviction {
  readonly message: string;
  /** Grace period; absent: as short as possible. */
  readonly graceMs?: number;
}

export class EvictionManager {
  readonly #options: EvictionManagerOptions;
  #state: PressureState = NO_PRESSURE;
  #evicting: { readonly uid: string; readonly untilMs: number } | undefined;

  constructor(options: EvictionManagerOptions) {
    this.#options = options;
  }

  /** One observation, and what follows from it. */
  async sync(): Promise<void> {
    const { thresholds, transitionMs, usage, report, record, log, clock } = this.#options;
    const observations = observationsOf(await usage());
    this.#state = nextPressure(this.#state, { thresholds, observations, transitionMs, nowMs: clock.monotonic() });
    report(this.#state.conditions);
    const [threshold] = this.#state.met;
    if (threshold === undefined || this.#isEvicting()) return;
    const { resource } = SIGNALS[threshold.signal];
    log.warn("The node is low on a resource: reclaiming it", { resource, signal: threshold.signal });
    record({ type: "Warning", reason: "EvictionThresholdMet", message: `Attempting to reclaim ${resource}` });
    if (await this.#isReclaimed(threshold)) return;
    await this.#evictOne(threshold, observations);
  }

  /** The last eviction has not had its effect yet. */
  #isEvicting(): boolean {
    const { pods, clock } = this.#options;
    const last = this.#evicting;
    if (last !== undefined && clock.monotonic() < last.untilMs && pods().some(({ metadata }) => metadata.uid === last.uid)) return true;
    this.#evicting = undefined;
    return false;
  }

  /** Reclaims what belongs to no Pod; returns whether that was enough. */
  async #isReclaimed({ signal }: Threshold): Promise<boolean> {
    const { thresholds, usage, hasImageFilesystem, reclaimDisk, log } = this.#options;
    if (SIGNALS[signal].condition !== "DiskPressure") return false;
    // The node's own file system has nothing to remove if images are on another one.
    if (signal.startsWith("nodefs.") && (await hasImageFilesystem())) return false;
    try {
      await reclaimDisk();
    } catch (error) {
      // A full disk is a reason for the runtime to fail: Pods are evicted nevertheless, as upstream.
      log.warn("Reclaiming disk space of the node failed", { signal, error });
    }
    return metThresholds(thresholds, observationsOf(await usage()), { withReclaim: true }).length === 0;
  }

  async #evictOne(threshold: Threshold, observations: Observations): Promise<void> {
    const { pods, evict, metrics, clock, log, maxPodGraceSeconds } = this.#options;
    const { signal, graceMs } = threshold;
    const { resource } = SIGNALS[signal];
    const usages = await this.#usages(pods(), { isDisk: resource === "ephemeral-storage" || resource === "inodes" });
    const usageOf = ({ metadata }: Pod): PodUsage => usages.get(metadata.uid ?? "") ?? {};
    const parts = measuredParts(signal, { hasImageFilesystem: await this.#options.hasImageFilesystem() });
    const pod = rankedPods(pods(), { resource, parts, usageOf }).find((one) => !isCritical(one));
    if (pod === undefined) return log.warn("The node is low on a resource, and no Pod can be evicted", { resource, signal });
    const message = evictionMessage(pod, { threshold, observations, usage: usageOf(pod) });
    const seconds = Math.min(maxPodGraceSeconds, pod.spec?.terminationGracePeriodSeconds ?? maxPodGraceSeconds);
    log.warn("Evicting a Pod", { pod: `${pod.metadata.namespace}/${pod.metadata.name}`, message });
    metrics?.evicted(signal);
    this.#evicting = { uid: pod.metadata.uid ?? "", untilMs: clock.monotonic() + CLEANUP_MS };
    evict(this.#evicting.uid, { message, ...(graceMs === 0 ? {} : { graceMs: seconds * SECOND_MS }) });
  }

  /** Only what the ranking needs is measured: walking the directories of all Pods is expensive. */
  async #usages(pods: readonly Pod[], { isDisk }: { readonly isDisk: boolean }): Promise<ReadonlyMap<string, PodUsage>> {
    const { stats, storageOf } = this.#options;
    const byUid = new Map((await stats()).map((of) => [of.podUid, of]));
    const usages = new Map<string, PodUsage>();
    for (const pod of pods) {
      const uid = pod.metadata.uid ?? "";
      const storage = isDisk ? await storageOf(pod).catch(() => undefined) : undefined; // It is being removed.
      usages.set(uid, { stats: byUid.get(uid), storage });
    }
    return usages;
  }
}

/** Runs `step` periodically until it is disposed of. A failure is logged, and the next step tries again. */
export function repeating(
  step: () => Promise<void>,
  { everyMs, what, clock, log }: { readonly everyMs: number; readonly what: string; readonly clock: Clock; readonly log: Logger },
): AsyncDisposable {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      await clock.sleep(everyMs, stop.signal).catch(() => undefined); // Stopped.
      if (stop.signal.aborted) return;
      try {
        await step();
      } catch (error) {
        log.warn(`${what} failed; retrying`, { error });
      }
    }
  };
  const running = run();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort(NOT_NEEDED);
      await running;
    },
  };
}

/** Disposing of it stops it. */
export function startEvictionManager(options: EvictionManagerOptions): AsyncDisposable {
  const manager = new EvictionManager(options);
  return repeating(() => manager.sync(), { ...options, everyMs: INTERVAL_MS, what: "Checking the eviction thresholds of the node" });
}
