/**
 * Clients that are programs (kubectl, Helm), run by tests as a person would: a command line in, what it wrote out. They get an
 * environment of their own, so that nothing of this machine's user (configuration, caches, plugins) can matter.
 * Not here: which server they talk to (testing/servers/api-server.ts).
 */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import { text } from "node:stream/consumers";

/** What a program did. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** What it reads: a text, or an object that is sent as JSON. Default: nothing. */
  readonly input?: string | object;
  readonly environment?: Readonly<Record<string, string>>;
  /** Of a command that may take longer than most. */
  readonly timeoutMs?: number;
}

export interface ClientProgram {
  /**
   * Runs it to its end and resolves with what it wrote to stdout; rejects, with what it wrote to stderr, unless it exits with 0.
   * `line` is a command line as in a shell, without the program: words, and '…' for a word with spaces.
   */
  (line: string, options?: RunOptions): Promise<string>;
  /** Runs it to an end that must not be a success; resolves with what it wrote to stderr. */
  fails(line: string, options?: RunOptions): Promise<string>;
  /** Runs it to any end. */
  run(line: string, options?: RunOptions): Promise<Ran>;
  /** Starts it and hands out its lines as they come. */
  start(line: string): RunningClient;
  /** The same program, with `words` before every command line. */
  with(...words: readonly string[]): ClientProgram;
}

export interface RunningClient extends AsyncDisposable {
  /** The next line of stdout. Rejects, with what the program wrote to stderr, if it ends before. */
  line(): Promise<string>;
  /** Resolves when a line of stderr fits: kubectl tells there, with -v=6, how its requests go. */
  noted(pattern: RegExp): Promise<void>;
  /** All further lines of stdout until the program ends. */
  rest(): Promise<readonly string[]>;
}

/** No command of a test takes this long; one that waits for what never comes is ended, and fails. */
const RUN_TIMEOUT_MS = 120_000;

/**
 * Added to `kubectl wait` without a timeout, whose default of 30 s is too short on a machine that runs many tests: what it waits for comes
 * by itself. Below RUN_TIMEOUT_MS, so that kubectl says what it waited for.
 */
const WAIT_TIMEOUT = "--timeout=100s";

/** The same of one that goes on: it lives for as long as what it is watched for takes, and ends when it is disposed of. */
const START_TIMEOUT_MS = 300_000;

export interface ProgramPlace {
  readonly path: string;
  /** The whole environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export function clientProgram(place: ProgramPlace, always: readonly string[] = []): ClientProgram {
  const run = async (line: string, options: RunOptions = {}): Promise<Ran> => {
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

/** Words as a shell sees them, with single quotes only. */
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
  // It may end without having read its input.
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
    throw new Error(`Expected another line, the program ended: ${this.#notes.join("\n")}`);
  }

  noted(pattern: RegExp): Promise<void> {
    if (this.#notes.some((note) => pattern.test(note))) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#noteLines.on("line", (note) => void (pattern.test(note) && resolve()));
      const giveUp = () => reject(new Error(`Expected a note like ${pattern}, the program ended: ${this.#notes.join("\n")}`));
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
