/** How a node handles pressure: its eviction thresholds and the garbage collection of images, with upstream's defaults and kind's. */
import { IMAGE_GC_DEFAULT, IMAGE_GC_DISABLED, type ImageGcPolicy } from "../images/image-gc.ts";
import { HARD_DEFAULT, HARD_DISABLED, parseThresholds, type Threshold, type WrittenThresholds } from "./thresholds.ts";

export interface PressureSettings {
  /** As configured. */
  readonly written: WrittenThresholds;
  readonly thresholds: readonly Threshold[];
  /** How long a condition stays after it was last observed. */
  readonly transitionMs: number;
  /** Maximum grace period of Pods that are evicted by a soft threshold. */
  readonly maxPodGraceSeconds: number;
  readonly imageGc: ImageGcPolicy;
}

/** Upstream's. */
export const TRANSITION_MS = 300_000;

function settingsOf(hard: WrittenThresholds["hard"], imageGc: ImageGcPolicy): PressureSettings {
  const written = { hard, soft: {}, softGracePeriods: {}, minReclaim: {} };
  return { written, thresholds: parseThresholds(written).thresholds, transitionMs: TRANSITION_MS, maxPodGraceSeconds: 0, imageGc };
}

/** Upstream's defaults. */
export const PRESSURE_DEFAULT = settingsOf(HARD_DEFAULT, IMAGE_GC_DEFAULT);

/** For clusters on a developer's machine, as kind configures its nodes: nothing is evicted and no image is removed. */
export const PRESSURE_DISABLED = settingsOf(HARD_DISABLED, IMAGE_GC_DISABLED);
