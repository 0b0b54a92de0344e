/** Formats the output of the test run: a line per file, then failures in full, skipped tests with their reasons, and the totals. Pure. */
import { hasFailed, type FileResult } from "./file-result.ts";
import { readLines } from "./lines.ts";
import type { ProcessOutcome } from "./run-process.ts";

export interface Count {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function countOf(files: readonly FileResult[]): Count {
  const sum = (of: (file: FileResult) => number) => files.reduce((total, file) => total + of(file), 0);
  return {
    passed: sum((file) => file.passed),
    failed: sum((file) => file.failed.length + (file.problem === undefined ? 0 : 1)),
    skipped: sum((file) => file.skipped.length),
  };
}

/** The last line of every run. */
export function closingLine({ passed, failed, skipped }: Count): string {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}

export function fileLine(file: FileResult): string {
  const { passed, failed, skipped } = countOf([file]);
  const counts = [`${passed} passed`, ...(failed > 0 ? [`${failed} failed`] : []), ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return `${failed > 0 ? "FAIL" : "ok  "}  ${file.file}  ${counts.join(", ")}  ${times(file)}`;
}

/** The process of the pure tests as a whole: the times of its files do not include loading them. */
export function sharedProcessLine(files: number, { durationMs, lines }: ProcessOutcome): string {
  const { processorMs } = readLines(lines);
  return `      the shared process of ${files} files  ${times({ durationMs, processorMs })}`;
}

/** Characters of a failure that are printed while other files still run; the full text follows at the end. */
const EARLY_CHARACTERS_MAX = 2_000;

/** Reasons of a file's failures, printed before the run ends. */
export function earlyFailureLines(file: FileResult): string[] {
  const problem = file.problem === undefined ? [] : [file.problem];
  const reasons = [...file.failed.map(({ title, details }) => `${title}\n${details}`), ...problem];
  return reasons.map((reason) => indented(reason.slice(0, EARLY_CHARACTERS_MAX)));
}

/** Empty if everything passed. Output of a shared process is printed once. */
export function failureLines(files: readonly FileResult[]): string[] {
  const shown = new Set<string>();
  return files.flatMap((file) => {
    const lines = file.failed.flatMap(({ title, details }) => ["", `FAIL  ${file.file}: ${title}`, indented(details)]);
    if (file.problem !== undefined) lines.push("", `FAIL  ${file.file}: ${file.problem}`);
    if (lines.length === 0 || file.output === "" || shown.has(file.output)) return lines;
    shown.add(file.output);
    return [...lines, "", `Output of ${file.file}:`, indented(file.output)];
  });
}

export function skippedLines(files: readonly FileResult[]): string[] {
  const lines = files.flatMap((file) => file.skipped.map(({ title, reason }) => `  ${file.file}: ${title} (${reason})`));
  return lines.length === 0 ? [] : ["", "Skipped:", ...lines];
}

/** Number of files in the list of the slowest. */
const SLOWEST_FILES = 20;

/** The slowest files, slowest first; empty if so few ran that the lines above suffice. */
export function slowestLines(files: readonly FileResult[]): string[] {
  if (files.length <= SLOWEST_FILES) return [];
  const slowest = files.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, SLOWEST_FILES);
  return [
    "",
    `The ${SLOWEST_FILES} slowest files, with their processor time:`,
    ...slowest.map((file) => `  ${duration(file.durationMs).padStart(7)}  ${processor(file).padStart(7)}  ${file.file}`),
  ];
}

/** Files that failed and then passed on the second run, each with the output of its first run. */
export function flakyLines(flaky: readonly FileResult[], max: number): string[] {
  if (flaky.length === 0) return [];
  const tooMany = flaky.length > max ? `; more than ${max} fail the run` : "";
  return [
    "",
    `flaky: ${flaky.length} of the files failed and passed when rerun alone${tooMany}. Each is a defect of a test or of the product:`,
    ...flaky.map(({ file }) => `  ${file}`),
    ...failureLines(flaky).map((line) => line.replace(/^FAIL {2}/, "flaky ")),
  ];
}

/** With --repeat: failure count of each file that failed. */
export function repeatLines(results: readonly FileResult[], repeat: number): string[] {
  if (repeat === 1) return [];
  const failures = new Map<string, number>();
  for (const { file } of results.filter(hasFailed)) failures.set(file, (failures.get(file) ?? 0) + 1);
  return ["", ...Array.from(failures, ([file, times]) => `${file} failed in ${times} of ${repeat} runs`)];
}

function indented(text: string): string {
  return text.replace(/^/gm, "    ");
}

/** Processor time of the whole run, on Linux, and the idle share of all processors meanwhile: what bounds the duration of the run. */
export function processorLines(processorMs: number | undefined, idleShare: number): string[] {
  if (processorMs === undefined) return [];
  return [
    "",
    `Processor time of the run: ${duration(processorMs)}; the processors were idle for ${Math.round(idleShare * 100)} % of the time`,
  ];
}

type Times = Pick<FileResult, "durationMs" | "processorMs">;

function times(file: Times): string {
  return file.processorMs === undefined ? duration(file.durationMs) : `${duration(file.durationMs)}, processor ${processor(file)}`;
}

function processor({ processorMs }: Pick<Times, "processorMs">): string {
  return processorMs === undefined ? "-" : duration(processorMs);
}

export function duration(durationMs: number): string {
  return durationMs < 1000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1000).toFixed(1)} s`;
}
