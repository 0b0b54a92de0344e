/**
 * Runs one file of tests in a process of its own, and ends that process with everything it started when its time is over.
 * (`run()` of node:test can only ask politely, does not say which process it is, and takes an early exit(0) for success.)
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
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

  const output = collectText([child.stdio[1] as Readable, child.stdio[2] as Readable]);
  const lines = collectLines(child.stdio[3] as Readable);
  const exit = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve({ code, signal: by }));
  });
  clearTimeout(timer);
  signal.removeEventListener("abort", endGroup);
  endGroup(); // What the file left running would disturb those after it, and keep the pipes open.

  return { lines: await lines, output: await output, durationMs: performance.now() - began, timeoutMs, end: endOf(exit, timedOut) };
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

async function collectText(streams: readonly Readable[]): Promise<string> {
  let text = "";
  await Promise.all(
    streams.map(async (stream) => {
      stream.setEncoding("utf8");
      for await (const chunk of stream) text = (text + String(chunk)).slice(-OUTPUT_CHARACTERS_MAX);
    }),
  );
  return text;
}

async function collectLines(stream: Readable): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const text of createInterface({ input: stream })) {
    // A process that was killed may have left half a line behind.
    if (text.endsWith("}")) lines.push(JSON.parse(text) as Line);
  }
  return lines;
}
