/** The command line of the test run. Pure. */
export interface RunOptions {
  /** Only files whose name contains one of these; all if there is none. */
  readonly patterns: readonly string[];
  /** The full counts of long suites, and the time they need. */
  readonly torture: boolean;
  /** Undefined: the one of the environment, or the default. */
  readonly seed: number | undefined;
  /** Where the compiled files are; undefined: where the runner itself is. */
  readonly directory: string | undefined;
  /** So many processes at once. */
  readonly lanes: number;
  /** A file is ended after this. */
  readonly timeoutMs: number;
}

/** Several times what the slowest process needs on a slow machine: the one that all pure tests share. */
const QUICK_TIMEOUT_MS = 600_000;

/** Two hours: a thousand rounds of a crash test. */
const TORTURE_TIMEOUT_MS = 7_200_000;

/** Nearly all of them wait for others half of the time; more at once would make what they wait for slow. */
const LANES = 2;

export const USAGE =
  "Usage: npm test -- [--torture] [--seed=NUMBER] [--timeout-ms=NUMBER] [--lanes=NUMBER] [--directory=DIRECTORY] [PART_OF_A_FILE_NAME ...]";

const NUMBERS = ["--seed", "--timeout-ms", "--lanes"];

/** The options, or everything that is wrong with them. */
export function parseRunOptions(argv: readonly string[]): RunOptions | { readonly problems: readonly string[] } {
  const torture = argv.includes("--torture");
  const problems: string[] = [];
  const numbers = new Map<string, number>();
  const patterns: string[] = [];
  let directory: string | undefined;
  for (const argument of argv) {
    const [name = "", value = ""] = argument.split(/=(.*)/s);
    if (argument === "--torture") continue;
    if (NUMBERS.includes(name)) {
      if (/^\d{1,15}$/.test(value)) numbers.set(name, Number(value));
      else problems.push(`${name} must be a whole number, is ${JSON.stringify(value)}`);
    } else if (name === "--directory" && value !== "") directory = value;
    else if (argument.startsWith("-")) problems.push(`Unknown flag ${JSON.stringify(argument)}`);
    else patterns.push(argument);
  }
  if (problems.length > 0) return { problems };
  const timeoutMs = numbers.get("--timeout-ms") ?? (torture ? TORTURE_TIMEOUT_MS : QUICK_TIMEOUT_MS);
  const lanes = Math.max(1, numbers.get("--lanes") ?? LANES);
  return { patterns, torture, seed: numbers.get("--seed"), directory, lanes, timeoutMs };
}
