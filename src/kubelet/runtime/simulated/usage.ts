/**
 * Resource usage of a simulated container: a step function of the time since its start, for CPU in nanocores and for memory in bytes. Pure.
 * The CPU counter is its integral, so that a rate measured over any window is exact.
 */

/** From `fromMs` on, until the next step. */
export interface UsageStep {
  readonly fromMs: number;
  readonly amount: number;
}

/** The first step begins at 0; ascending. */
export type UsageSteps = readonly [UsageStep, ...UsageStep[]];

/** Usage of a container without settings: that of a program that waits. */
export const IDLE_CPU: UsageSteps = [{ fromMs: 0, amount: 1_000_000 }];
export const IDLE_MEMORY: UsageSteps = [{ fromMs: 0, amount: 10 << 20 }];

/** Usage of a simulated node besides its Pods: that of a small operating system with a kubelet. */
export const NODE_CPU_NANOCORES = 50_000_000;
export const NODE_MEMORY_BYTES = 256 << 20;

/** The amount at a time since the start. */
export function amountAt(steps: UsageSteps, ranForMs: number): number {
  return (steps.findLast(({ fromMs }) => fromMs <= ranForMs) ?? steps[0]).amount;
}

/** CPU time in nanoseconds between two times since the start. */
export function cpuNanosecondsBetween(steps: UsageSteps, fromMs: number, toMs: number): number {
  return steps.reduce((sum, { fromMs: begin, amount }, index) => {
    const end = steps[index + 1]?.fromMs ?? Infinity;
    const durationMs = Math.max(0, Math.min(end, toMs) - Math.max(begin, fromMs));
    return sum + (amount * durationMs) / 1_000;
  }, 0);
}
