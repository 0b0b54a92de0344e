/** Runs a program only while this process is the leader: started with the leadership, stopped with it, and killed after a timeout. */
import { constants } from "node:os";
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { startProgram, type ProgramExit } from "../../host/processes/child-process.ts";

export interface LeaderElectedProgramOptions {
  readonly command: readonly string[];
  readonly clock: Clock;
  /** Grace period when the leadership is released. */
  readonly graceMs: number;
  /** Grace period when the lease is lost. */
  readonly lostGraceMs: number;
}

/**
 * Runs it until it exits or `signal` is aborted; then sends SIGTERM, and SIGKILL after the first grace period. Resolves when it has exited:
 * with its exit code if it exited by itself, undefined if it was stopped. Rejects if it cannot be started.
 */
export async function runWhileLeader(
  { command, clock, graceMs, lostGraceMs }: LeaderElectedProgramOptions,
  signal: AbortSignal,
  lost: AbortSignal,
): Promise<number | undefined> {
  const [program = "", ...words] = command;
  await using running = await startProgram({ command: program, arguments: words, inheritsStreams: true });
  const exited = new AbortController();
  const killAfter = (delayMs: number): void => {
    clock.sleep(delayMs, exited.signal).then(
      () => running.signal("SIGKILL"),
      () => undefined,
    );
  };
  let isStopRequested = false;
  const requestStop = (): void => {
    isStopRequested = true;
    running.signal("SIGTERM");
    killAfter(graceMs);
  };
  const listening = [whenAborted(signal, requestStop), whenAborted(lost, () => killAfter(lostGraceMs))];
  const exit = await running.exited;
  for (const stopListening of listening) stopListening();
  exited.abort();
  return isStopRequested ? undefined : exitCodeOf(exit);
}

/** Immediately if it is already aborted. */
function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  return onAbort(signal, callback);
}

/** Exit code of a killed program, as shells report it. */
function exitCodeOf({ code, signal }: ProgramExit): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
