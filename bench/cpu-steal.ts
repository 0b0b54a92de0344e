/** CPU steal: share of CPU time that the hypervisor gave to other machines. Measurements taken meanwhile are too slow. */
import { readFileSync } from "node:fs";

/** Since boot, in clock ticks; only ratios are used. */
export interface CpuTimes {
  readonly total: number;
  readonly stolen: number;
}

/** The columns of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests count as user. */
const COLUMNS = 8;

/** Undefined if the system does not report it. */
export function readCpuTimes(): CpuTimes | undefined {
  let text: string;
  try {
    text = readFileSync("/proc/stat", "utf8");
  } catch {
    return undefined;
  }
  const [name, ...columns] = (text.split("\n", 1)[0] ?? "").split(/\s+/);
  const times = columns.slice(0, COLUMNS).map(Number);
  if (name !== "cpu" || times.length < COLUMNS) return undefined;
  return { total: times.reduce((sum, time) => sum + time, 0), stolen: times[COLUMNS - 1] ?? 0 };
}

/** Percentage of the CPU time of all processors; 0 if unknown. */
export function stealPercent(before: CpuTimes | undefined, after: CpuTimes | undefined): number {
  if (before === undefined || after === undefined || after.total === before.total) return 0;
  return ((after.stolen - before.stolen) / (after.total - before.total)) * 100;
}
