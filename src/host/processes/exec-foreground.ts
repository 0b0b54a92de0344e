/**
 * Runs a program in the foreground in place of this one: it uses our streams, receives the signals that are sent to us, and its exit code
 * is ours. Not here: programs whose output is read (exec-program.ts), programs that run in parallel (child-process.ts).
 */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { killWithParent } from "./child-cleanup.ts";
import { hasTerminal } from "./exec-program.ts";

export interface RunInForegroundOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  /** Added to this process's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Sent to one process, by kill or a service manager. */
const FORWARDED = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"] as const;
/** Sent by a terminal to all of its foreground processes: the program has received it already, and this process must not exit before it. */
const OF_THE_TERMINAL = ["SIGINT", "SIGQUIT"] as const;

/** Exit code that a shell reports for a program killed by a signal. */
const SIGNALLED = 128;

/** Resolves with the exit code, or with 128 and the signal's number. Rejects if the program cannot be started. */
export async function runInForeground({ command, arguments: words, environment }: RunInForegroundOptions): Promise<number> {
  const child = spawn(command, words, { stdio: "inherit", env: { ...process.env, ...environment } });
  killWithParent(child);
  const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
  const ignore = (): void => {};
  const onTerminalSignal = hasTerminal() ? ignore : forward;
  for (const signal of FORWARDED) process.on(signal, forward);
  for (const signal of OF_THE_TERMINAL) process.on(signal, onTerminalSignal);
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once("error", (error) => reject(new Error(`Cannot start ${command}: ${error.message}`, { cause: error })));
      child.once("exit", (code, signal) => resolve(code ?? SIGNALLED + constants.signals[signal as NodeJS.Signals]));
    });
  } finally {
    for (const signal of FORWARDED) process.off(signal, forward);
    for (const signal of OF_THE_TERMINAL) process.off(signal, onTerminalSignal);
  }
}
