/**
 * Programs that outlive this process: started in a session of their own, with their output in a file, and known afterwards only by their
 * number and start time, so that another process may find, signal and outwait them. Not here: programs that end with us (child-process.ts).
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { isAlive, processMark, type ProcessMark } from "./process-identity.ts";

/** There is no event for the end of a process that is not a child of ours, so it is looked for as often as this. */
const LOOK_AGAIN_MS = 10;

export interface DetachedProgramOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  /** What it says is added at the end of this file. */
  readonly logFile: string;
  /** All that it has of the environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Resolves when it runs, rejects if it cannot be started. */
export async function startDetached(options: DetachedProgramOptions): Promise<ProcessMark> {
  const log = openSync(options.logFile, "a", 0o600);
  try {
    const child = spawn(options.command, options.arguments, {
      cwd: options.directory,
      env: options.environment,
      stdio: ["ignore", log, log],
      detached: true,
    });
    await new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (error) => reject(new Error(`Cannot start ${options.command}: ${error.message}`, { cause: error })));
    });
    child.unref();
    return processMark(child.pid as number);
  } finally {
    closeSync(log);
  }
}

/** Does nothing if it is gone, also if another has its number by now. */
export function signalProcess(mark: ProcessMark, signal: NodeJS.Signals): void {
  if (!isAlive(mark)) return;
  try {
    process.kill(mark.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Whether it was gone within the time. */
export async function waitForProcessExit(mark: ProcessMark, { timeoutMs, clock }: { readonly timeoutMs: number; readonly clock: Clock }) {
  const until = clock.monotonic() + timeoutMs;
  while (isAlive(mark)) {
    if (clock.monotonic() >= until) return false;
    await clock.sleep(LOOK_AGAIN_MS);
  }
  return true;
}

/** Asks it to end, and ends it if it does not within the time. Resolves when it is gone. */
export async function terminateProcess(
  mark: ProcessMark,
  { graceMs, clock }: { readonly graceMs: number; readonly clock: Clock },
): Promise<void> {
  signalProcess(mark, "SIGTERM");
  signalProcess(mark, "SIGCONT"); // One that is stopped would otherwise not hear it.
  if (await waitForProcessExit(mark, { timeoutMs: graceMs, clock })) return;
  await killProcesses([mark], clock);
}

/** A killed process can take long to go while the disk is slow; longer than this, it is stuck in the kernel. */
const KILLED_WITHIN_MS = 30_000;

/** All at once, and resolves when they are gone. */
export async function killProcesses(marks: readonly ProcessMark[], clock: Clock): Promise<void> {
  for (const mark of marks) signalProcess(mark, "SIGKILL");
  for (const mark of marks) {
    if (!(await waitForProcessExit(mark, { timeoutMs: KILLED_WITHIN_MS, clock }))) {
      throw new Error(`Cannot stop process ${mark.pid}: it is still running ${KILLED_WITHIN_MS} ms after SIGKILL`);
    }
  }
}
