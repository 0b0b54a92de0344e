/**
 * A process of this machine by the words it was called with, however late it comes: a container "runs" from the moment its program is
 * begun, and on a busy machine it is a while until that program has begun the one that is looked for. Nobody tells of new processes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { findProcesses, type ProcessEntry } from "../../host/processes/process-table.ts";

const FOUND_WITHIN_MS = 100_000;
const LOOK_EVERY_MS = 20;

/** The only process that was called so. */
export async function calledProcess(command: string): Promise<ProcessEntry> {
  const untilMs = performance.now() + FOUND_WITHIN_MS;
  for (;;) {
    const [found, ...others] = await findProcesses((words) => words.join(" ") === command);
    if (others.length > 0) throw new Error(`${others.length + 1} processes were called "${command}"`);
    if (found !== undefined) return found;
    if (performance.now() > untilMs) throw new Error(`No process was called "${command}" within ${FOUND_WITHIN_MS / 1000} s`);
    await sleep(LOOK_EVERY_MS);
  }
}
