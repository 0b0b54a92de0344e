/** The program that runs only where this process leads: started with the leadership, asked to end with it, and killed if it does not. */
import { constants } from "node:os";
import { onAbort } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import { startProgram, type ProgramExit } from "../../host/processes/child-process.ts";

export interface LeaderElectedProgramOptions {
  readonly command: readonly string[];
  readonly clock: Clock;
  /** How long it may take to end when it is asked to. */
  readonly graceMs: number;
  /** How long it may run on when the lease is lost. */
  readonly lostGraceMs: number;
}

/**
 * Runs it until it ends or `signal` is aborted; then it is sent SIGTERM, and SIGKILL when the first grace is over. Resolves when it is
 * gone: with its exit code if it ended by itself, undefined if it was asked to. Rejects if it cannot be started.
 */
export async function runWhileLeader(
  { command, clock, graceMs, lostGraceMs }: LeaderElectedProgramOptions,
  signal: AbortSignal,
  lost: AbortSignal,
): Promise<number | undefined> {
  const [program = "", ...words] = command;
  await using running = await startProgram({ command: program, arguments: words, inheritsStreams: true });
  const gone = new AbortController();
  const killAfter = (delayMs: number): void => {
    clock.sleep(delayMs, gone.signal).then(
      () => running.signal("SIGKILL"),
      () => undefined,
    );
  };
  let wasAsked = false;
  const ask = (): void => {
    wasAsked = true;
    running.signal("SIGTERM");
    killAfter(graceMs);
  };
  const listening = [whenAborted(signal, ask), whenAborted(lost, () => killAfter(lostGraceMs))];
  const exit = await running.exited;
  for (const stopListening of listening) stopListening();
  gone.abort();
  return wasAsked ? undefined : exitCodeOf(exit);
}

/** At once if it is aborted already. */
function whenAborted(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) callback();
  return onAbort(signal, callback);
}

/** Of a program that a signal ended, as shells count it. */
function exitCodeOf({ code, signal }: ProgramExit): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}
