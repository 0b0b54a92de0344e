/**
 * Finds Go, Python and a JDK, for the examples in these languages. Python and the JDK are not installed: tests that need one run where it
 * exists, and are skipped with the reason elsewhere. Installing Go: go.ts.
 */
import type { Finding } from "../../src/testing/needs.ts";
import { reasonIn } from "../../src/host/processes/program-failure.ts";
import type { Surroundings } from "./surroundings.ts";

interface Language {
  readonly command: string;
  /** Prints the version. */
  readonly args: readonly string[];
  readonly version: RegExp;
  /** Oldest that is sufficient: major, minor. */
  readonly atLeast: readonly [number, number];
}

const LANGUAGES = {
  go: { command: "go", args: ["version"], version: /go(\d+)\.(\d+)/, atLeast: [1, 21] },
  python3: { command: "python3", args: ["--version"], version: /Python (\d+)\.(\d+)/, atLeast: [3, 8] },
  // The compiler; `java` is beside it.
  java: { command: "javac", args: ["-version"], version: /javac (\d+)(?:\.(\d+))?/, atLeast: [17, 0] },
} as const satisfies Record<string, Language>;

/** A cold start from a slow disk. */
const ASK_TIMEOUT_MS = 30_000;

export async function languages(surroundings: Surroundings): Promise<Record<keyof typeof LANGUAGES, Finding>> {
  const [go, python3, java] = await Promise.all([
    find(LANGUAGES.go, surroundings),
    find(LANGUAGES.python3, surroundings),
    find(LANGUAGES.java, surroundings),
  ]);
  return { go, python3, java };
}

async function find({ command, args, version, atLeast }: Language, { which, run }: Surroundings): Promise<Finding> {
  const path = which(command);
  if (path === undefined) return { missing: `${command} is not on the PATH` };
  const { exitCode, output } = await run(path, args, { timeoutMs: ASK_TIMEOUT_MS });
  if (exitCode !== 0) return { missing: `${command} does not start: ${reasonIn(output)}` };
  const [, major = "0", minor = "0"] = version.exec(output) ?? [];
  const isNewEnough = Number(major) > atLeast[0] || (Number(major) === atLeast[0] && Number(minor) >= atLeast[1]);
  return isNewEnough ? { path } : { missing: `${command} ${major}.${minor} is too old; ${atLeast.join(".")} is needed` };
}
