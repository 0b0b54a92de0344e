/**
 * Child programs: started, signalled and killed in time. A program that this process started does not outlive it (unless this process is
 * killed with SIGKILL), and its last output is kept, so that a failed start can be explained. Not here: which programs.
 */
import { spawn, type ChildProcess } from "node:child_process";
import type { Clock } from "../../base/clock.ts";
import { SUPERVISED_VARIABLE } from "./supervision.ts";
import { killWithParent } from "./child-cleanup.ts";
import { readLines } from "./read-lines.ts";

/** Number of output lines kept for explaining a failure; bounds the memory of a long-running program. */
const OUTPUT_LINES_MAX = 200;

export interface ProgramOptions {
  readonly command: string;
  readonly arguments: readonly string[];
  readonly directory?: string;
  /** Added to this process's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  /** It shares the standard streams of this process, so its output is not kept. */
  readonly inheritsStreams?: true;
  /** A supervised process (supervision.ts): it receives orders, and exits with this process however that ends. Ctrl-C is not sent to it. */
  readonly isSupervised?: true;
  /** Its standard input; default: none. For what must not be in a command line, which all users of the machine can read. */
  readonly input?: string;
  /** Open file descriptors of this process that it inherits, as 3 and following. */
  readonly descriptors?: readonly number[];
  /** Called for every line of stdout and stderr, as it arrives. */
  readonly onLine?: (line: string) => void;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Program extends AsyncDisposable {
  readonly pid: number;
  /** Fulfilled when the program has exited and its output was read to the end; never rejected. */
  readonly exited: Promise<ProgramExit>;
  /** The last lines it wrote to stdout and stderr. */
  readonly output: readonly string[];
  /** Does nothing once the program has exited, so that no other process with a reused PID is hit. */
  signal(signal: NodeJS.Signals): void;
  /** Sends one line to a supervised program; does nothing if it has exited. */
  say(line: string): void;
}

/** Resolves when the program runs, rejects if it cannot be started. Disposing kills it with SIGKILL and waits. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.arguments, {
    stdio:
      options.inheritsStreams === true
        ? "inherit"
        : [hasInput(options) ? "pipe" : "ignore", "pipe", "pipe", ...(options.descriptors ?? [])],
    detached: options.isSupervised === true,
    ...(options.directory === undefined ? {} : { cwd: options.directory }),
    env: { ...process.env, ...options.environment, ...(options.isSupervised === true ? { [SUPERVISED_VARIABLE]: "1" } : {}) },
  });
  child.stdin?.on("error", () => {}); // It has exited, which is reported elsewhere.
  if (options.input !== undefined) child.stdin?.end(options.input);
  const output: string[] = [];
  keepLines(child, output, options.onLine);
  const exited = exitOf(child);
  await spawned(child, options.command);
  killWithParent(child);
  return {
    pid: child.pid as number,
    exited,
    output,
    signal: (signal) => void child.kill(signal),
    say: (line) => void child.stdin?.write(`${line}\n`),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

function hasInput({ isSupervised, input }: ProgramOptions): boolean {
  return isSupervised === true || input !== undefined;
}

/** Runs a program to its end and returns what it wrote, line by line. Rejects, with the output, unless it exits with 0. */
export async function runProgram(options: ProgramOptions): Promise<readonly string[]> {
  const program = await startProgram(options);
  const { code, signal } = await program.exited;
  if (code !== 0) {
    const how = signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
    throw new Error(`Cannot run ${options.command} ${options.arguments.join(" ")}: it ${how}: ${program.output.join("\n")}`);
  }
  return program.output;
}

/**
 * Runs a program to its end, or until it is killed: after the timeout, or if the signal is aborted. Never rejects. `exitCode` null: a signal ended it, or it could not be
 * started; then `output` says why.
 */
export async function runForOutput(
  options: ProgramOptions & { readonly clock: Clock; readonly timeoutMs: number; readonly signal?: AbortSignal },
): Promise<{ readonly exitCode: number | null; readonly output: string }> {
  const { clock, timeoutMs, signal } = options;
  const over = new AbortController();
  try {
    await using program = await startProgram(options);
    signal?.addEventListener("abort", () => program.signal("SIGKILL"), { once: true, signal: over.signal });
    let isLate = false;
    const timing = clock.sleep(timeoutMs, over.signal).then(
      () => {
        isLate = true;
        program.signal("SIGKILL");
      },
      () => undefined, // It exited in time.
    );
    const { code } = await program.exited;
    over.abort();
    await timing;
    return { exitCode: code, output: [...program.output, ...(isLate ? [`timed out after ${timeoutMs / 1_000} s`] : [])].join("\n") };
  } catch (error) {
    return { exitCode: null, output: (error as Error).message };
  }
}

function keepLines(child: ChildProcess, output: string[], onLine: ((line: string) => void) | undefined): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue;
    void readLines(stream, (line) => {
      output.push(line);
      if (output.length > OUTPUT_LINES_MAX) output.shift();
      onLine?.(line);
    });
  }
}

function exitOf(child: ChildProcess): Promise<ProgramExit> {
  return new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })));
}

function spawned(child: ChildProcess, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (error) => reject(new Error(`Cannot start ${command}: ${error.message}`, { cause: error })));
  });
}
