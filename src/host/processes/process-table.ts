/** The processes of this machine and their command lines, from /proc; none on systems without /proc. */
import { readdir, readFile } from "node:fs/promises";
import { fewAtATime } from "../files/limited-concurrency.ts";
import { processMark, type ProcessMark } from "./process-identity.ts";

export interface ProcessEntry extends ProcessMark {
  readonly arguments: readonly string[];
}

/** Processes whose arguments match. Those that exit meanwhile are left out. */
export async function findProcesses(matches: (programArguments: readonly string[]) => boolean): Promise<readonly ProcessEntry[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await fewAtATime(pids, (pid) => entryOf(pid, matches));
  return found.filter((entry) => entry !== undefined);
}

async function entryOf(pid: number, matches: (programArguments: readonly string[]) => boolean): Promise<ProcessEntry | undefined> {
  const mark = processMark(pid); // Before its arguments are read: if the PID is reused in between, the identity matches no process.
  const programArguments = await argumentsOf(pid);
  return mark.started !== "" && programArguments.length > 0 && matches(programArguments)
    ? { ...mark, arguments: programArguments }
    : undefined;
}

/** Empty if it has exited. */
export async function argumentsOf(pid: number): Promise<readonly string[]> {
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  return line.split("\0").slice(0, -1);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
