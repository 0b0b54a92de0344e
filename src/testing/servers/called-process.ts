/**
 * Finds a process of this machine by its command line, waiting for it: a container is "running" as soon as its program starts, and on a
 * busy machine it takes a while until that program has started the one in question. New processes are not announced, so this polls.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findProcesses, type ProcessEntry } from "../../host/processes/process-table.ts";

const FOUND_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 20;

/** Returns the only process with this command line. */
export async function calledProcess(command: string): Promise<ProcessEntry> {
  const untilMs = performance.now() + FOUND_WITHIN_MS;
  for (;;) {
    const [found, ...others] = await findProcesses((words) => words.join(" ") === command);
    if (others.length > 0) throw new Error(`${others.length + 1} processes have the command line "${command}"`);
    if (found !== undefined) return found;
    if (performance.now() > untilMs) throw new Error(`No process had the command line "${command}" within ${FOUND_WITHIN_MS / 1000} s`);
    await sleep(LOOK_EVERY_MS);
  }
}
