/**
 * Supervises one component in a separate process: its output goes to a log file, and when it exits it is restarted with backoff, which is
 * reported in one line. The process terminates with this one in any case (host/processes/supervision.ts). The first start is different: a
 * component that does not become ready then is an error with its own output.
 */
import type { Clock } from "../base/clock.ts";
import { startProgram, type Program, type ProgramExit } from "../host/processes/child-process.ts";
import { openLogFile, type LogFile } from "../host/files/rotating-log.ts";
import { formatHuman } from "../base/logger.ts";
import { processMark, type ProcessMark } from "../host/processes/process-identity.ts";
import { selfCommand } from "../host/processes/self-command.ts";
import { restartWaitMs } from "./restart-back-off.ts";

/** Number of last output lines in the error of a failed start. */
const LAST_LINES = 5;

export interface SupervisedProcessOptions {
  /** Display name: "API server". */
  readonly name: string;
  /** Absent: its output goes to `onLine` only. */
  readonly logFile?: string;
  /** The k8ts command and its flags; evaluated before each start, with the line by which the first start reported readiness. */
  words(readyLine: string | undefined): readonly string[] | Promise<readonly string[]>;
  /** File descriptors that each process inherits. */
  readonly descriptors?: readonly number[];
  /** Command that executes it, such as nsenter with its arguments. It must replace itself by the program. */
  readonly launcher?: readonly string[];
  /** Output line that signals readiness. */
  readonly ready: RegExp;
  /** Called with each line of its output. */
  onLine?(line: string): void;
  /** Message sent to stop it. Absent: SIGTERM. */
  readonly stopOrder?: string;
  /** Timeout of a graceful stop; then it is killed. */
  readonly stopWithinMs: number;
  report(line: string): void;
  /** Called when a new process has replaced the previous one. */
  onRestarted(): void;
  /** Aborts the first start, with the signal's reason. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export class SupervisedProcess implements AsyncDisposable {
  readonly #options: SupervisedProcessOptions;
  readonly #log: LogFile | undefined;
  readonly #stopping = new AbortController();
  #program: Program | undefined;
  #startedAtMs = 0;
  #readyLine: string | undefined;
  #keeping: Promise<void> | undefined;

  /** Resolves when it is ready. Rejects if it exits before. */
  static async start(options: SupervisedProcessOptions): Promise<SupervisedProcess> {
    const part = new SupervisedProcess(options);
    try {
      await part.#startFirst();
      return part;
    } catch (error) {
      await part[Symbol.asyncDispose]();
      throw error;
    }
  }

  private constructor(options: SupervisedProcessOptions) {
    this.#options = options;
    this.#log = options.logFile === undefined ? undefined : openLogFile(options.logFile, formatHuman);
  }

  get name(): string {
    return this.#options.name;
  }

  /** Undefined while it waits to be restarted. */
  get process(): ProcessMark | undefined {
    return this.#program === undefined ? undefined : processMark(this.#program.pid);
  }

  /** The line by which it first reported readiness. */
  get readyLine(): string {
    return this.#readyLine ?? "";
  }

  /** Sends a signal to the current process, if there is one. */
  signal(signal: NodeJS.Signals): void {
    this.#program?.signal(signal);
  }

  /** Ends it without a graceful stop. */
  async kill(): Promise<void> {
    this.#stopping.abort();
    this.#program?.signal("SIGKILL");
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    if (this.#program !== undefined) await this.#end(this.#program);
    await this.#keeping;
    this.#log?.[Symbol.dispose]();
  }

  async #startFirst(): Promise<void> {
    const { name, signal } = this.#options;
    signal.throwIfAborted();
    let isReady: () => void = () => {};
    const ready = new Promise<undefined>((resolve) => {
      isReady = () => resolve(undefined);
      signal.addEventListener("abort", isReady, { once: true });
    });
    const program = await this.#spawn(isReady);
    this.#program = program;
    const ended = await Promise.race([ready, program.exited]);
    signal.removeEventListener("abort", isReady);
    signal.throwIfAborted();
    if (ended !== undefined) {
      this.#program = undefined;
      throw new Error(`Cannot start the ${name}: it ${howEnded(ended)}: ${program.output.slice(-LAST_LINES).join("\n")}`);
    }
    this.#keeping = this.#keep(program);
  }

  async #spawn(onReady: () => void): Promise<Program> {
    const { words, launcher, ready, onLine, descriptors, clock } = this.#options;
    const command = await words(this.#readyLine);
    this.#startedAtMs = clock.monotonic();
    return startProgram({
      ...selfCommand(command, launcher),
      isSupervised: true,
      ...(descriptors === undefined ? {} : { descriptors }),
      onLine: (line) => {
        this.#log?.write(line);
        onLine?.(line);
        if (!ready.test(line)) return;
        this.#readyLine ??= line;
        onReady();
      },
    });
  }

  /** Until it is cancelled. */
  async #keep(first: Program): Promise<void> {
    const { name, report, onRestarted, clock } = this.#options;
    const { signal } = this.#stopping;
    let waitMs = 0;
    let exit = await first.exited;
    while (!signal.aborted) {
      this.#program = undefined;
      waitMs = restartWaitMs(waitMs, clock.monotonic() - this.#startedAtMs);
      const line = `The ${name} ${howEnded(exit)}; restarting it in ${waitMs / 1_000} s`;
      this.#log?.write(line);
      report(line);
      await clock.sleep(waitMs, signal).catch(() => undefined);
      if (signal.aborted) return;
      const program = await this.#spawn(() => undefined).catch((error: Error) => {
        report(`Cannot start the ${name}: ${error.message}`);
        return undefined;
      });
      if (program === undefined) continue;
      this.#program = program;
      if (signal.aborted) return this.#end(program);
      onRestarted();
      exit = await program.exited;
    }
  }

  async #end(program: Program): Promise<void> {
    const { stopOrder, stopWithinMs, clock } = this.#options;
    if (stopOrder === undefined) program.signal("SIGTERM");
    else program.say(stopOrder);
    const late = new AbortController();
    const killing = clock.sleep(stopWithinMs, late.signal).then(
      () => program.signal("SIGKILL"),
      () => undefined, // It exited in time.
    );
    await program.exited;
    late.abort();
    await killing;
  }
}

function howEnded({ code, signal }: ProgramExit): string {
  return signal === null ? `exited with code ${code}` : `was killed by ${signal}`;
}
