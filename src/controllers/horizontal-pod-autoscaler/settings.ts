/** Settings of the autoscaler; upstream has a flag of the controller manager for each. */
export interface HorizontalPodAutoscalerSettings {
  /** Interval between two reconciliations of an autoscaler (--horizontal-pod-autoscaler-sync-period). */
  readonly syncPeriodMs: number;
  /** Window of scale-downs without one in `behavior` (--horizontal-pod-autoscaler-downscale-stabilization). */
  readonly downscaleStabilizationMs: number;
  /** Deviation from the target that is ignored (--horizontal-pod-autoscaler-tolerance). */
  readonly tolerance: number;
  /** Time after the start of a Pod in which its CPU samples count only while it is ready (--horizontal-pod-autoscaler-cpu-initialization-period). */
  readonly cpuInitializationMs: number;
  /** Time after its start in which a change to not ready means that it was never ready (--horizontal-pod-autoscaler-initial-readiness-delay). */
  readonly initialReadinessDelayMs: number;
}

export const DEFAULT_SETTINGS: HorizontalPodAutoscalerSettings = {
  syncPeriodMs: 15_000,
  downscaleStabilizationMs: 300_000,
  tolerance: 0.1,
  cpuInitializationMs: 300_000,
  initialReadinessDelayMs: 30_000,
};
