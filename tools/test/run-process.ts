/**
 * Runs one file of tests in a process of its own, and ends that process with everything it started when its time is over.
 * (`run()` of node:test can only ask politely, does not say which process it is, and takes an early exit(0) for success.)
 * Everything that comes out of it is looked at for secrets that tests have planted: what shows in a test run shows in a log.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { plantedIn } from "../../src/testing/fixtures/planted-secrets.ts";
import type { Line } from "./lines.ts";

export interface ProcessOptions {
  /** The compiled file. */
  readonly file: string;
  readonly timeoutMs: number;
  readonly environment: NodeJS.ProcessEnv;
  /** Aborted when the whole run is to end: ends the process too. */
  readonly signal: AbortSignal;
}

export interface ProcessOutcome {
  readonly lines: readonly Line[];
  /** What the tests printed, its last part if it is long. */
  readonly output: string;
  /** Where planted secrets were seen: "line 12 of its output shows the planted password". */
  readonly leaks: readonly string[];
  readonly durationMs: number;
  /** The time it had. */
  readonly timeoutMs: number;
  readonly end:
    | { readonly by: "exit"; readonly code: number }
    | { readonly by: "signal"; readonly signal: string }
    | { readonly by: "timeout" };
}

/** The end of what a file printed explains its failure; a file that prints without end must not fill the memory. */
const OUTPUT_CHARACTERS_MAX = 100_000;

const REPORTER = new URL("./reporter.js", import.meta.url).href;

export async function runProcess({ file, timeoutMs, environment, signal }: ProcessOptions): Promise<ProcessOutcome> {
  const began = performance.now();
  // With a process group of its own, the process and all that it started can be ended together.
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
  endGroup(); // What the file left running would disturb those after it, and keep the pipes open.

  const told = { lines: await lines, output: await output, leaks };
  return { ...told, durationMs: performance.now() - began, timeoutMs, end: endOf(exit, timedOut) };
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
    // Nobody of the group is left, which is what was wanted.
  }
}

async function collectText(streams: Readonly<Record<string, Readable>>, leaks: string[]): Promise<string> {
  let text = "";
  await Promise.all(
    Object.entries(streams).map(async ([name, stream]) => {
      const look = lookThrough(name, leaks);
      stream.setEncoding("utf8");
      for await (const chunk of stream) {
        look(String(chunk));
        text = (text + String(chunk)).slice(-OUTPUT_CHARACTERS_MAX);
      }
      look("\n");
    }),
  );
  return text;
}

/** Of a line without end only so much is kept: secrets are shorter. */
const LINE_CHARACTERS_MAX = 1_000_000;

/** Takes text as it comes, and notes each line of it that shows what was planted. */
function lookThrough(name: string, leaks: string[]): (text: string) => void {
  let number = 1;
  let rest = "";
  return (text) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(-LINE_CHARACTERS_MAX);
    for (const line of lines) {
      const planted = plantedIn(line);
      if (planted !== undefined) leaks.push(`line ${number} of its ${name} shows the planted ${planted}`);
      number++;
    }
  };
}

async function collectLines(stream: Readable, leaks: string[]): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const text of createInterface({ input: stream })) {
    // A process that was killed may have left half a line behind.
    if (!text.endsWith("}")) continue;
    const line = JSON.parse(text) as Line;
    const planted = plantedIn(text);
    if (planted !== undefined)
      leaks.push(`what is told of ${"name" in line ? JSON.stringify(line.name) : "the run"} shows the planted ${planted}`);
    lines.push(line);
  }
  return lines;
}
