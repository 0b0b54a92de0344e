/**
 * Client programs (kubectl, Helm) that tests run as a user would: a command line in, its output out. They have an environment of their own,
 * so that the configuration, caches and plugins of this machine's user cannot matter. Not here: the server that they talk to
 * (testing/servers/api-server.ts).
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { text } from "node:stream/consumers";

/** Exit code and output of a program. */
export interface FinishedRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Standard input: a text, or an object that is sent as JSON. Default: empty. */
  readonly input?: string | object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Timeout of a command that may take longer than most. */
  readonly timeoutMs?: number;
}

export interface ClientProgram {
  /**
   * Runs a command and resolves with its stdout; rejects, with its stderr, unless it exits with 0. `line` is a command line as in a shell,
   * without the program: arguments, with '…' around those that contain spaces.
   */
  (line: string, options?: RunOptions): Promise<string>;
  /** Runs a command that must fail; resolves with its stderr. */
  fails(line: string, options?: RunOptions): Promise<string>;
  /** Runs a command, whatever its exit code. */
  run(line: string, options?: RunOptions): Promise<FinishedRun>;
  /** Starts a command and returns its lines as they are written. */
  start(line: string): RunningClient;
  /** The same program, with `words` inserted before every command line. */
  with(...words: readonly string[]): ClientProgram;
}

export interface RunningClient extends AsyncDisposable {
  /** Returns the next line of stdout. Rejects, with stderr, if the program exits before. */
  line(): Promise<string>;
  /** Resolves when a line of stderr matches: there kubectl logs its requests with -v=6. */
  noted(pattern: RegExp): Promise<void>;
  /** Returns the remaining lines of stdout until the program exits. */
  rest(): Promise<readonly string[]>;
}

/** Maximum duration of a command; one that waits for something that never happens is killed and fails. */
const RUN_TIMEOUT_MS = 120_000;

/**
 * Added to `kubectl wait` without a timeout, whose default of 30 s is too short on a machine that runs many tests. Below RUN_TIMEOUT_MS, so
 * that kubectl reports what it waited for.
 */
const WAIT_TIMEOUT = "--timeout=100s";

/** Maximum duration of a command that keeps running, such as a watch; it normally ends when it is disposed of. */
const START_TIMEOUT_MS = 300_000;

export interface ProgramPlace {
  readonly path: string;
  /** The complete environment; nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>;
}

export function clientProgram(place: ProgramPlace, always: readonly string[] = []): ClientProgram {
  const run = async (line: string, options: RunOptions = {}): Promise<FinishedRun> => {
    const child = spawnClient(place, [...always, ...argumentsOf(line)], options);
    child.stdin.end(typeof options.input === "object" ? JSON.stringify(options.input) : options.input);
    const [code, stdout, stderr] = await Promise.all([exitCode(child), text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  };
  const succeed = async (line: string, options?: RunOptions): Promise<string> => {
    const { code, stdout, stderr } = await run(line, options);
    if (code !== 0) throw new Error(`Expected "${line}" to succeed, it exited with ${code ?? "a signal"}: ${stderr}${stdout}`);
    return stdout;
  };
  const fails = async (line: string, options?: RunOptions): Promise<string> => {
    const { code, stdout, stderr } = await run(line, options);
    if (code === 0) throw new Error(`Expected "${line}" to fail, it succeeded: ${stdout}${stderr}`);
    return stderr;
  };
  return Object.assign(succeed, {
    fails,
    run,
    start: (line: string) => new Running(spawnClient(place, [...always, ...argumentsOf(line)], { timeoutMs: START_TIMEOUT_MS })),
    with: (...words: readonly string[]) => clientProgram(place, [...always, ...words]),
  });
}

/** Splits a command line as a shell does, with single quotes only. */
export function wordsOf(line: string): string[] {
  return (line.match(/(?:[^\s']|'[^']*')+/g) ?? []).map((word) => word.replaceAll("'", ""));
}

function argumentsOf(line: string): readonly string[] {
  const words = wordsOf(line);
  return words[0] === "wait" && !words.some((word) => word.startsWith("--timeout")) ? [...words, WAIT_TIMEOUT] : words;
}

function spawnClient(
  place: ProgramPlace,
  words: readonly string[],
  { environment = {}, timeoutMs = RUN_TIMEOUT_MS }: Pick<RunOptions, "environment" | "timeoutMs"> = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(place.path, words, { env: { ...place.environment, ...environment }, stdio: "pipe", timeout: timeoutMs });
  // The program may exit without having read its input.
  child.stdin.on("error", () => {});
  const killWithUs = () => child.kill("SIGKILL");
  process.once("exit", killWithUs);
  child.once("close", () => process.removeListener("exit", killWithUs));
  return child;
}

function exitCode(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
}

class Running implements RunningClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #noteLines: Interface;
  readonly #notes: string[] = [];
  readonly #exited: Promise<number | null>;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    this.#noteLines = createInterface({ input: child.stderr }).on("line", (note) => void this.#notes.push(note));
    this.#exited = exitCode(child);
    child.stdin.end();
  }

  async line(): Promise<string> {
    const next = await this.#lines.next();
    if (next.done !== true) return next.value;
    await this.#exited;
    throw new Error(`Expected another line, but the program exited: ${this.#notes.join("\n")}`);
  }

  noted(pattern: RegExp): Promise<void> {
    if (this.#notes.some((note) => pattern.test(note))) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#noteLines.on("line", (note) => void (pattern.test(note) && resolve()));
      const giveUp = () =>
        reject(new Error(`Expected a line of stderr that matches ${pattern}, but the program exited: ${this.#notes.join("\n")}`));
      this.#exited.then(giveUp, giveUp);
    });
  }

  async rest(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let next = await this.#lines.next(); next.done !== true; next = await this.#lines.next()) lines.push(next.value);
    return lines;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }
}
