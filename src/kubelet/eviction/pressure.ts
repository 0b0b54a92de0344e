/**
 * How long thresholds have been met, and which pressure the Node reports: one step per observation, pure. A soft threshold counts after its
 * grace period; a threshold that was acted upon counts until its minimum reclaim is satisfied; a condition stays for the transition period
 * after it was last observed, so that it does not oscillate. Follows upstream's synchronize.
 */
import { SIGNALS, type Observations, type PressureCondition } from "./signals.ts";
import { metThresholds, type Threshold } from "./thresholds.ts";

export interface PressureState {
  /** Milliseconds of a monotonic clock. */
  readonly firstMetAtMs: ReadonlyMap<Threshold, number>;
  readonly conditionsAtMs: ReadonlyMap<PressureCondition, number>;
  /** Met for their grace period. Memory first. */
  readonly met: readonly Threshold[];
  /** Reported by the Node, in alphabetical order. */
  readonly conditions: readonly PressureCondition[];
}

export const NO_PRESSURE: PressureState = { firstMetAtMs: new Map(), conditionsAtMs: new Map(), met: [], conditions: [] };

export interface PressureView {
  readonly thresholds: readonly Threshold[];
  readonly observations: Observations;
  readonly transitionMs: number;
  readonly nowMs: number;
}

export function nextPressure(before: PressureState, { thresholds, observations, transitionMs, nowMs }: PressureView): PressureState {
  const current = metThresholds(thresholds, observations, { withReclaim: false });
  const unresolved = metThresholds(before.met, observations, { withReclaim: true });
  const all = [...new Set([...current, ...unresolved])];
  const firstMetAtMs = new Map(all.map((threshold) => [threshold, before.firstMetAtMs.get(threshold) ?? nowMs]));
  const conditionsAtMs = new Map(before.conditionsAtMs);
  for (const { signal } of all) conditionsAtMs.set(SIGNALS[signal].condition, nowMs);
  // A condition that was observed now is reported even without a transition period.
  const isReported = (atMs: number): boolean => atMs === nowMs || nowMs - atMs < transitionMs;
  return {
    firstMetAtMs,
    conditionsAtMs,
    met: all.filter((threshold) => nowMs - (firstMetAtMs.get(threshold) ?? nowMs) >= threshold.graceMs).toSorted(memoryFirst),
    conditions: [...conditionsAtMs]
      .filter(([, atMs]) => isReported(atMs))
      .map(([condition]) => condition)
      .toSorted(),
  };
}

function memoryFirst(a: Threshold, b: Threshold): number {
  return Number(b.signal === "memory.available") - Number(a.signal === "memory.available");
}
