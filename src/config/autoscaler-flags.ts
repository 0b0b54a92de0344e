/** Flags of the HorizontalPodAutoscaler controller, with upstream's names. */
import type { FlagSet, FlagValues } from "../cli/framework/flags.ts";
import { DEFAULT_SETTINGS, type HorizontalPodAutoscalerSettings } from "../controllers/horizontal-pod-autoscaler/settings.ts";
import { durationExpected, durationMs } from "./connection-flags.ts";

function durationFlag(defaultMs: number, doc: string) {
  const text = defaultMs % 60_000 === 0 ? `${defaultMs / 60_000}m` : `${defaultMs / 1_000}s`;
  return { type: "string", placeholder: "DURATION", default: text, doc, expects: durationExpected } as const;
}

export const autoscalerFlags = {
  "horizontal-pod-autoscaler-sync-period": durationFlag(
    DEFAULT_SETTINGS.syncPeriodMs,
    "Interval between two decisions of a HorizontalPodAutoscaler.",
  ),
  "horizontal-pod-autoscaler-downscale-stabilization": durationFlag(
    DEFAULT_SETTINGS.downscaleStabilizationMs,
    "Time whose highest recommendation a scale-down respects, unless the autoscaler's behavior says otherwise.",
  ),
  "horizontal-pod-autoscaler-tolerance": {
    type: "string",
    placeholder: "SHARE",
    default: String(DEFAULT_SETTINGS.tolerance),
    doc: "Deviation from the target that is ignored, 0.1 for 10 %.",
    expects: (text) => (/^\d*\.?\d+$/.test(text) ? undefined : "a number such as 0.1"),
  },
  "horizontal-pod-autoscaler-cpu-initialization-period": durationFlag(
    DEFAULT_SETTINGS.cpuInitializationMs,
    "Time after the start of a Pod in which its CPU usage counts only while it is ready.",
  ),
  "horizontal-pod-autoscaler-initial-readiness-delay": durationFlag(
    DEFAULT_SETTINGS.initialReadinessDelayMs,
    "Time after the start of a Pod in which a change to not ready counts as never having been ready.",
  ),
} as const satisfies FlagSet;

export type AutoscalerFlagValues = FlagValues<typeof autoscalerFlags>;

/** The same flags for another process. */
export function autoscalerArguments(values: AutoscalerFlagValues): readonly string[] {
  return Object.keys(autoscalerFlags).map((name) => `--${name}=${values[name as keyof AutoscalerFlagValues]}`);
}

export function autoscalerSettings(values: AutoscalerFlagValues): HorizontalPodAutoscalerSettings {
  return {
    syncPeriodMs: durationMs(values["horizontal-pod-autoscaler-sync-period"]),
    downscaleStabilizationMs: durationMs(values["horizontal-pod-autoscaler-downscale-stabilization"]),
    tolerance: Number(values["horizontal-pod-autoscaler-tolerance"]),
    cpuInitializationMs: durationMs(values["horizontal-pod-autoscaler-cpu-initialization-period"]),
    initialReadinessDelayMs: durationMs(values["horizontal-pod-autoscaler-initial-readiness-delay"]),
  };
}
