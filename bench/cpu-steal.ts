/**
 * How much of the processors' time the machine below us gave to somebody else: what was measured meanwhile is too slow.
 */
import { readFileSync } from "node:fs";

/** Since the machine was started, in units that only their quotient has a meaning without. */
export interface CpuTimes {
  readonly total: number;
  readonly stolen: number;
}

/** The columns of the first line of /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal; guests count as user. */
const COLUMNS = 8;

/** Undefined where the system does not tell. */
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

/** In percent of all processors' time; 0 where it is not known. */
export function stealPercent(before: CpuTimes | undefined, after: CpuTimes | undefined): number {
  if (before === undefined || after === undefined || after.total === before.total) return 0;
  return ((after.stolen - before.stolen) / (after.total - before.total)) * 100;
}
