/** The command line of the test run. Pure. */
export interface RunOptions {
  /** Substrings of file names to run; empty for all files. */
  readonly patterns: readonly string[];
  /** Runs long suites with their full counts and timeouts. */
  readonly torture: boolean;
  /** Default: K8TS_SEED, or a fixed seed. */
  readonly seed: number | undefined;
  /** Directory of the compiled files. Default: the one that contains the runner. */
  readonly directory: string | undefined;
  /** Maximum number of test processes that run concurrently on a busy machine. */
  readonly lanes: number;
  /** How many more run while processors are idle. */
  readonly spareLanes: number;
  /** Test processes are killed after this timeout. */
  readonly timeoutMs: number;
  /** Of the process that all pure tests share. */
  readonly sharedTimeoutMs: number;
  /** Number of runs per file. More than 1 is for finding flaky tests: every failure counts. */
  readonly repeat: number;
  /** Stops random processes of the run temporarily, for finding flaky tests: every failure counts. */
  readonly disturb: boolean;
  /** Runs only files that changes since this git revision can affect. Default: all. */
  readonly since: string | undefined;
}

/** Several times the duration of the slowest file on a slow machine. */
const QUICK_TIMEOUT_MS = 600_000;

/** All pure tests are one process: a busy machine must not end it in the middle. */
const QUICK_SHARED_TIMEOUT_MS = 1_800_000;

/** Two hours: a thousand rounds of a crash test. */
const TORTURE_TIMEOUT_MS = 7_200_000;

/** Most test processes wait for other processes half of the time, so three keep two cores busy; two take a third longer. */
const LANES = 3;

/** Real containers, kubectl and timers are waited for: with these, two cores are seldom idle. */
const SPARE_LANES = 2;

export const USAGE = `Usage: npm test -- [FLAG ...] [PART_OF_A_FILE_NAME ...]
  --since REF           run only the files that changes since this git revision can affect
  --repeat N            run each file N times; every failure counts
  --disturb             stop random processes of the run for up to 2.5 s (Linux); every failure counts
  --torture             full counts of long suites
  --seed NUMBER         seed of everything random
  --lanes NUMBER        maximum number of concurrent test processes (default ${LANES}, and ${SPARE_LANES} more while processors are idle)
  --timeout-ms NUMBER   timeout of one test process
  --directory DIRECTORY compiled files to run`;

const NUMBERS = ["--seed", "--timeout-ms", "--lanes", "--repeat"];
const TEXTS = ["--directory", "--since"];
const SWITCHES = ["--torture", "--disturb"];

/** Returns the options, or all problems with them. A value follows its flag after "=" or as the next argument. */
export function parseRunOptions(argv: readonly string[]): RunOptions | { readonly problems: readonly string[] } {
  const problems: string[] = [];
  const numbers = new Map<string, number>();
  const texts = new Map<string, string>();
  const switches = new Set<string>();
  const patterns: string[] = [];
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [name = "", inline] = argument.split(/=(.*)/s);
    if (SWITCHES.includes(argument)) switches.add(argument);
    else if (NUMBERS.includes(name)) {
      const value = inline ?? rest.shift() ?? "";
      if (/^\d{1,15}$/.test(value)) numbers.set(name, Number(value));
      else problems.push(`${name} must be a whole number, is ${JSON.stringify(value)}`);
    } else if (TEXTS.includes(name)) {
      const value = inline ?? rest.shift() ?? "";
      if (value === "" || value.startsWith("-")) problems.push(`${name} must have a value, is ${JSON.stringify(value)}`);
      else texts.set(name, value);
    } else if (argument.startsWith("-")) problems.push(`Unknown flag ${JSON.stringify(argument)}`);
    else patterns.push(argument);
  }
  if (problems.length > 0) return { problems };
  const torture = switches.has("--torture");
  return {
    patterns,
    torture,
    disturb: switches.has("--disturb"),
    seed: numbers.get("--seed"),
    directory: texts.get("--directory"),
    since: texts.get("--since"),
    lanes: Math.max(1, numbers.get("--lanes") ?? LANES),
    spareLanes: numbers.has("--lanes") ? 0 : SPARE_LANES,
    repeat: Math.max(1, numbers.get("--repeat") ?? 1),
    timeoutMs: numbers.get("--timeout-ms") ?? (torture ? TORTURE_TIMEOUT_MS : QUICK_TIMEOUT_MS),
    sharedTimeoutMs: numbers.get("--timeout-ms") ?? (torture ? TORTURE_TIMEOUT_MS : QUICK_SHARED_TIMEOUT_MS),
  };
}
