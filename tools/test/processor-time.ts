/** Processor time of a test process: unlike its duration, it hardly depends on what else the machine runs. Linux only. */
import { readFileSync } from "node:fs";

/** Unit of times in /proc: Linux reports 100 ticks per second on every architecture that Node.js supports. */
const TICK_MS = 10;

/**
 * Processor time of this process and of its terminated descendants, user and system. Descendants count if their parent waited for them: a
 * daemon that outlives its parent does not. Undefined on other systems.
 */
export function processorTimeMs(): number | undefined {
  return process.platform === "linux" ? parseProcessorTimeMs(readFileSync("/proc/self/stat", "utf8")) : undefined;
}

/** `stat` is the text of /proc/PID/stat: the name of the program is in parentheses and may contain spaces and parentheses itself. */
export function parseProcessorTimeMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // utime, stime, cutime and cstime are the fields 14 to 17 of proc(5); the first field after the name is the third.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
}
