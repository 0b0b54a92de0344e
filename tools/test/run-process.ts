/**
 * Runs one test file in its own process, and kills that process with all its descendants on a timeout. (`run()` of node:test can only send
 * SIGTERM, does not expose the process id, and takes an early exit(0) for success.) All output is searched for secrets that tests have
 * planted: what appears in a test run appears in a log.
 */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { plantedIn } from "../../src/testing/fixtures/planted-secrets.ts";
import { readLines } from "../../src/host/processes/read-lines.ts";
import type { Line } from "./lines.ts";

export interface ProcessOptions {
  /** Path of the compiled file. */
  readonly file: string;
  readonly timeoutMs: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborted when the whole run ends: kills the process too. */
  readonly signal: AbortSignal;
}

export interface ProcessOutcome {
  readonly lines: readonly Line[];
  /** Output of the tests, truncated to its end. */
  readonly output: string;
  /** Places where planted secrets occurred: "line 12 of its output contains the planted password". */
  readonly leaks: readonly string[];
  readonly durationMs: number;
  /** The configured timeout. */
  readonly timeoutMs: number;
  readonly end:
    | { readonly by: "exit"; readonly code: number }
    | { readonly by: "signal"; readonly signal: string }
    | { readonly by: "timeout" };
}

/** The end of the output explains a failure; unlimited output must not exhaust the memory. */
const OUTPUT_CHARACTERS_MAX = 100_000;

const REPORTER = new URL("./reporter.js", import.meta.url).href;

export async function runProcess({ file, timeoutMs, environment, signal }: ProcessOptions): Promise<ProcessOutcome> {
  const began = performance.now();
  // In its own process group, the process can be killed with all its descendants.
  const child = spawn(process.execPath, ["--enable-source-maps", `--test-reporter=${REPORTER}`, file], {
    detached: true,
    env: { ...environment, NODE_TEST_CONTEXT: undefined },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const endGroup = () => killGroup(child.pid);
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    endGroup();
  }, timeoutMs);
  signal.addEventListener("abort", endGroup);

  const leaks: string[] = [];
  const output = collectText({ "standard output": child.stdio[1] as Readable, "standard error": child.stdio[2] as Readable }, leaks);
  const lines = collectLines(child.stdio[3] as Readable, leaks);
  const exit = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  clearTimeout(timer);
  signal.removeEventListener("abort", endGroup);
  endGroup(); // Processes that the file left running would disturb later files and keep the pipes open.

  const report = { lines: await lines, output: await output, leaks };
  return { ...report, durationMs: performance.now() - began, timeoutMs, end: endOf(exit, timedOut) };
}

function endOf(exit: { readonly code: number | null; readonly signal: string | null }, timedOut: boolean): ProcessOutcome["end"] {
  if (timedOut) return { by: "timeout" };
  if (exit.signal !== null) return { by: "signal", signal: exit.signal };
  return { by: "exit", code: exit.code ?? 0 };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // ESRCH: no process of the group is left, as intended.
  }
}

async function collectText(streams: Readonly<Record<string, Readable>>, leaks: string[]): Promise<string> {
  let text = "";
  await Promise.all(
    Object.entries(streams).map(async ([name, stream]) => {
      const search = secretSearch(name, leaks);
      stream.setEncoding("utf8");
      for await (const chunk of stream) {
        search(String(chunk));
        text = (text + String(chunk)).slice(-OUTPUT_CHARACTERS_MAX);
      }
      search("\n");
    }),
  );
  return text;
}

/** Limit of the buffered part of a line; secrets are shorter. */
const LINE_CHARACTERS_MAX = 1_000_000;

/** Returns a sink for text that records each line with a planted secret. */
function secretSearch(name: string, leaks: string[]): (text: string) => void {
  let number = 1;
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const planted = plantedIn(line);
      if (planted !== undefined) leaks.push(`line ${number} of its ${name} contains the planted ${planted}`);
      number++;
    }
  };
}

async function collectLines(stream: Readable, leaks: string[]): Promise<Line[]> {
  const lines: Line[] = [];
  await readLines(stream, (text) => {
    // A killed process may leave an incomplete line.
    if (!text.endsWith("}")) return;
    const line = JSON.parse(text) as Line;
    const planted = plantedIn(text);
    if (planted !== undefined)
      leaks.push(`the report on ${"name" in line ? JSON.stringify(line.name) : "the run"} contains the planted ${planted}`);
    lines.push(line);
  });
  return lines;
}
