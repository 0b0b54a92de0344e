/**
 * Programs that outlive this process: started in their own session, with their output in a file, and identified afterwards only by PID and
 * start time, so that another process can find, signal and await them. Not here: programs that end with this process (child-process.ts).
 */
import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { isAlive, processMark, type ProcessMark } from "./process-identity.ts";

/** Polling interval: there is no event for the exit of a process that is not a child of ours. */
const LOOK_AGAIN_MS = 10;

export interface DetachedProgramOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory: string;
  /** Its output is appended to this file. */
  readonly logFile: string;
  /** Its whole environment. */
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

/** Does nothing if it has exited, also if another process has its PID by now. */
export function signalProcess(mark: ProcessMark, signal: NodeJS.Signals): void {
  if (!isAlive(mark)) return;
  try {
    process.kill(mark.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** True if it exited within the timeout. */
export async function waitForProcessExit(mark: ProcessMark, { timeoutMs, clock }: { readonly timeoutMs: number; readonly clock: Clock }) {
  const until = clock.monotonic() + timeoutMs;
  while (isAlive(mark)) {
    if (clock.monotonic() >= until) return false;
    await clock.sleep(LOOK_AGAIN_MS);
  }
  return true;
}

/** Sends SIGTERM, and SIGKILL after the timeout. Resolves when it has exited. */
export async function terminateProcess(
  mark: ProcessMark,
  { graceMs, clock }: { readonly graceMs: number; readonly clock: Clock },
): Promise<void> {
  signalProcess(mark, "SIGTERM");
  signalProcess(mark, "SIGCONT"); // A stopped process (SIGSTOP) would not handle the signal otherwise.
  if (await waitForProcessExit(mark, { timeoutMs: graceMs, clock })) return;
  await killProcesses([mark], clock);
}

/** A killed process can take long to exit while the disk is slow; longer than this, it is stuck in the kernel. */
const KILLED_WITHIN_MS = 30_000;

/** Concurrently; resolves when all have exited. */
export async function killProcesses(marks: readonly ProcessMark[], clock: Clock): Promise<void> {
  for (const mark of marks) signalProcess(mark, "SIGKILL");
  for (const mark of marks) {
    if (!(await waitForProcessExit(mark, { timeoutMs: KILLED_WITHIN_MS, clock }))) {
      throw new Error(`Cannot stop process ${mark.pid}: it is still running ${KILLED_WITHIN_MS} ms after SIGKILL`);
    }
  }
}
