/** Starts the eviction of Pods from a node under pressure and the garbage collection of images, on this machine. */
import type { Pod } from "../../api/generated/core/v1.ts";
import { Disposables } from "../../base/disposables.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/logger.ts";
import { diskUsage, isSameFileSystem, machineUsage } from "../../host/kernel/machine-usage.ts";
import type { PodStorageSource } from "../../kubelet/contracts/pod-storage.ts";
import { repeating, startEvictionManager } from "../../kubelet/eviction/eviction-manager.ts";
import type { PressureSettings } from "../../kubelet/eviction/pressure-settings.ts";
import type { NodeUsage } from "../../kubelet/eviction/signals.ts";
import { ImageCollector } from "../../kubelet/images/image-collector.ts";
import type { Kubelet } from "../../kubelet/kubelet.ts";
import type { KubeletMetrics } from "../../kubelet/kubelet-metrics.ts";
import type { CriRuntime } from "../../kubelet/runtime/cri/cri-runtime.ts";
import { imageNumbers } from "./machine-statistics.ts";

/** Upstream's ImageGCPeriod. */
const IMAGE_GC_INTERVAL_MS = 300_000;

export interface NodePressureOptions {
  readonly settings: PressureSettings;
  readonly kubelet: Kubelet;
  readonly runtime: CriRuntime;
  readonly rootDirectory: string;
  readonly storageOf: PodStorageSource;
  readonly metrics: KubeletMetrics;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Nothing is measured if there are no thresholds, and no image is looked at if none is to be removed. */
export function startNodePressure(options: NodePressureOptions): AsyncDisposable {
  const { settings, kubelet, runtime, rootDirectory, storageOf, metrics, clock, log } = options;
  const started = new Disposables();
  const collector = new ImageCollector({
    policy: settings.imageGc,
    ...{ runtime, metrics, clock, log },
    needed: () => neededImages(kubelet.activePods(), runtime.setUp.sandboxImage),
    disk: () => imageNumbers(options),
    record: (event) => kubelet.recordNodeEvent(event),
    onRemoved: () => kubelet.imagesChanged(),
  });
  const { highPercent, maxAgeMs } = settings.imageGc;
  const isCollecting = highPercent < 100 || maxAgeMs > 0;
  if (isCollecting || settings.thresholds.length > 0) {
    const observed = collector.observe().catch((error: unknown) => log.warn("Listing the images of the node failed; retrying", { error }));
    started.defer(() => observed);
    const step = () => (isCollecting ? collector.collect() : collector.observe());
    started.use(repeating(step, { everyMs: IMAGE_GC_INTERVAL_MS, what: "Garbage collection of images", clock, log }));
  }
  if (settings.thresholds.length > 0)
    started.use(
      startEvictionManager({
        ...settings,
        ...{ storageOf, metrics, clock, log },
        usage: () => usageOf(options),
        hasImageFilesystem: () => hasImageFilesystem(runtime, rootDirectory),
        pods: () => kubelet.activePods(),
        stats: () => runtime.stats(),
        async reclaimDisk() {
          await removeExitedContainers(runtime);
          await collector.removeUnused();
        },
        report: (conditions) => kubelet.setPressure(conditions),
        evict: (podUid, eviction) => kubelet.evict(podUid, { ...eviction, isDisruption: true }),
        record: (event) => kubelet.recordNodeEvent(event),
      }),
    );
  return started;
}

async function usageOf({ runtime, rootDirectory, clock, log }: NodePressureOptions): Promise<NodeUsage> {
  const [machine, rootFilesystem, images] = await Promise.all([
    machineUsage(clock.now()),
    diskUsage(rootDirectory),
    imageNumbers({ runtime, log }),
  ]);
  return { ...machine, rootFilesystem, ...(images === undefined ? {} : { imageFilesystem: images, containerFilesystem: images }) };
}

async function hasImageFilesystem(runtime: CriRuntime, rootDirectory: string): Promise<boolean> {
  const images = await runtime.imageFilesystem();
  return images !== undefined && !(await isSameFileSystem(images.mountPoint, rootDirectory));
}

/** The image of sandboxes, and those of Pods and of their volumes, which may be about to start. */
function neededImages(pods: readonly Pod[], sandboxImage: string | undefined): readonly string[] {
  const ofPods = pods.flatMap(({ spec }) => [
    ...[...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])].map(({ image }) => image),
    ...(spec?.volumes ?? []).map(({ image }) => image?.reference),
  ]);
  return [...new Set([sandboxImage, ...ofPods])].filter((name): name is string => name !== undefined && name !== "");
}

/** Of each container the newest attempt stays: its exit code is needed. */
async function removeExitedContainers(runtime: CriRuntime): Promise<void> {
  for (const { containers } of await runtime.list()) {
    const newest = new Set<string>();
    for (const { id, name, state } of containers) {
      if (newest.has(name) && state.is === "exited") await runtime.removeContainer(id);
      newest.add(name);
    }
  }
}
