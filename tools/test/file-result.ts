/**
 * Turns the events and the exit status of a test process into a result per test file. A file passes only if it ran to completion: one that
 * crashed, exited early, hung, contained no test or printed a planted secret has a problem, and a problem counts as a failed test.
 */
import { readLines, type Reading, type TestResult } from "./lines.ts";
import type { ProcessOutcome } from "./run-process.ts";

export interface FileResult {
  /** Path of the source: "src/base/heap.test.ts". */
  readonly file: string;
  readonly durationMs: number;
  /** Processor time of the file's own process and its descendants; unknown for one of several files in a process. */
  readonly processorMs?: number | undefined;
  readonly passed: number;
  readonly failed: readonly { readonly title: string; readonly details: string }[];
  readonly skipped: readonly { readonly title: string; readonly reason: string }[];
  /** Failure of the file as a whole. */
  readonly problem: string | undefined;
  /** Output of the file and diagnostics of Node. Files that share a process share this. */
  readonly output: string;
}

/** File name in the result of a shared process that failed as a whole. */
export const SHARED_PROCESS = "the shared process";

export function hasFailed({ failed, problem }: FileResult): boolean {
  return failed.length > 0 || problem !== undefined;
}

const NO_TEST = "It contains no test, or exited before the first one";

/** Result of a file that ran in its own process. */
export function ownFile(file: string, outcome: ProcessOutcome): FileResult {
  const reading = readLines(outcome.lines);
  const counted = countOf(reading.results);
  const problem = problemOf(outcome, reading, counted.failed.length);
  return {
    file,
    durationMs: outcome.durationMs,
    processorMs: reading.processorMs,
    ...counted,
    problem,
    output: outputOf(outcome, reading),
  };
}

/** Results of files that shared one process, each in a suite of its name (writeEntry of test-files.ts). */
export function sharedFiles(files: readonly string[], outcome: ProcessOutcome): FileResult[] {
  const reading = readLines(outcome.lines);
  const output = outputOf(outcome, reading);
  const all = files.map((file) => oneOfShared(file, reading, output));
  const failed = all.reduce((sum, file) => sum + file.failed.length, 0);
  const problem = problemOf(outcome, reading, failed);
  if (problem === undefined) return all;
  return [...all, { file: SHARED_PROCESS, durationMs: outcome.durationMs, ...countOf([]), problem, output }];
}

function oneOfShared(file: string, { results }: Reading, output: string): FileResult {
  const own = results.filter(({ path }) => path[0] === file).map((result) => ({ ...result, path: result.path.slice(1) }));
  const suite = own.find(({ path }) => path.length === 0);
  const counted = countOf(own);
  const isEmpty = own.length === 1 && suite?.failed === undefined;
  const problem = suite === undefined ? "It did not run to completion" : isEmpty ? NO_TEST : undefined;
  return { file, durationMs: suite?.durationMs ?? 0, ...counted, problem, output };
}

function problemOf(outcome: ProcessOutcome, reading: Reading, failed: number): string | undefined {
  const leaks = outcome.leaks.map((leak) => `It leaked a secret: ${leak}`);
  const problems = [...leaks, endProblemOf(outcome, reading, failed) ?? []].flat();
  return problems.length === 0 ? undefined : problems.join("\n");
}

function endProblemOf({ end, lines, timeoutMs }: ProcessOutcome, { ended, unfinished }: Reading, failed: number): string | undefined {
  const during = unfinished.length === 0 ? "" : ` during ${unfinished.map((name) => JSON.stringify(name)).join(" > ")}`;
  if (end.by === "timeout") return `It was killed after a timeout of ${timeoutMs / 1000} s${during}`;
  if (end.by === "signal") return `It was terminated by ${end.signal}${during}`;
  // Without a single line, Node's test runner was never loaded.
  if (lines.length === 0 && end.code === 0) return NO_TEST;
  if (!ended) return `It exited prematurely with code ${end.code}${during}`;
  if (end.code !== 0 && failed === 0) return `It exited with code ${end.code} although no test failed`;
  return undefined;
}

/** Suites count only for their own outcome: skipped as a whole, or failed in a hook or while loading. */
function countOf(results: readonly TestResult[]): Pick<FileResult, "passed" | "failed" | "skipped"> {
  const passed = results.filter(({ isSuite, skipped, failed }) => !isSuite && skipped === undefined && failed === undefined);
  const failed = results.filter((result) => result.failed !== undefined && !(result.isSuite && result.failedOnlyInside === true));
  const skipped = results.filter((result) => result.skipped !== undefined);
  return {
    passed: passed.length,
    failed: failed.map((result) => ({ title: titleOf(result), details: result.failed ?? "" })),
    skipped: skipped.map((result) => ({ title: titleOf(result), reason: result.skipped ?? "" })),
  };
}

function titleOf({ path }: TestResult): string {
  return path.length === 0 ? "the file itself" : path.join(" > ");
}

function outputOf({ output }: ProcessOutcome, { diagnostics }: Reading): string {
  return [output.trimEnd(), ...diagnostics].filter((text) => text !== "").join("\n");
}
