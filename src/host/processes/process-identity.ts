/** Checks whether a process is alive, and not another one with a reused PID. */
import { readFileSync, readlinkSync } from "node:fs";

export interface ProcessMark {
  readonly pid: number;
  /** Start time in the kernel's units; "0" on systems without /proc. "": unknown. */
  readonly started: string;
}

export function ourProcess(): ProcessMark {
  return processMark(process.pid);
}

/** Of a running process; the start time of one that has exited is unknown. */
export function processMark(pid: number): ProcessMark {
  return { pid, started: startOf(pid) };
}

export function isAlive({ pid, started }: ProcessMark): boolean {
  if (process.platform === "linux") return started !== "" && startOf(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Reads the start time of a process from /proc: the 22nd field; the command before it may itself contain blanks and brackets. A zombie (the
 * 3rd field) holds nothing any more once all its threads have exited, too (the 20th).
 */
function startOf(pid: number): string {
  if (process.platform !== "linux") return "0";
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields[0] === "Z" && Number(fields[17]) <= 1 ? "" : (fields[19] ?? "");
  } catch {
    return "";
  }
}

/** PID namespace: containers that share a directory do not share PIDs. Only digits. */
export function processSpace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0"; // Not Linux: there is only one.
  }
}
