/** The load of this machine's processors, as the kernel accounts it: of all processes, not only those of the run. */
import { cpus } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Sums over all processors since boot. */
export interface ProcessorTimes {
  readonly idleMs: number;
  readonly totalMs: number;
}

export function readProcessorTimes(): ProcessorTimes {
  const times = cpus().map(({ times: { user, nice, sys, idle, irq } }) => ({ idleMs: idle, totalMs: user + nice + sys + idle + irq }));
  return { idleMs: sum(times.map(({ idleMs }) => idleMs)), totalMs: sum(times.map(({ totalMs }) => totalMs)) };
}

/** Share of idle time, from 0 to 1, between two readings; 0 if no time passed. */
export function idleShare(from: ProcessorTimes, to: ProcessorTimes): number {
  return to.totalMs > from.totalMs ? (to.idleMs - from.idleMs) / (to.totalMs - from.totalMs) : 0;
}

/** Long enough for the kernel's accounting, in ticks of 10 ms, and for the start of a test process; short beside most test files. */
const OBSERVATION_MS = 1_000;

/** Of all processors: of two, 0.6 are idle. Below that, a further process would mostly wait for the others. */
const IDLE_SHARE_MIN = 0.3;

export async function hasIdleProcessor(): Promise<boolean> {
  const before = readProcessorTimes();
  // The run may end meanwhile.
  await sleep(OBSERVATION_MS, undefined, { ref: false });
  return idleShare(before, readProcessorTimes()) >= IDLE_SHARE_MIN;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
