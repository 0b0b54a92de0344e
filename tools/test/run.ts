/**
 * `npm test`: runs the compiled test files and prints a line for each, with the start of its failures. A file that failed is rerun alone at
 * the end (second-run.ts). Then follow failures in full, flaky files, skipped tests with reasons, the slowest files, sizes of files and
 * functions, and the totals as the last line. The exit code is 1 if a test failed, too many files are flaky or no test ran. Checks (types,
 * lint, format, layers, tidiness, language) are ordinary test files in tools/.
 */
import { dirname, join, resolve } from "node:path";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { testSeed } from "../../src/testing/rounds.ts";
import { changedFiles } from "./changed-files.ts";
import { RUN_VARIABLE, startDisturbance } from "./disturb.ts";
import { ownFile, sharedFiles, type FileResult } from "./file-result.ts";
import { parseRunOptions, USAGE, type RunOptions } from "./options.ts";
import * as report from "./report.ts";
import { processorTimeMs } from "./processor-time.ts";
import { hasIdleProcessor, idleShare, readProcessorTimes } from "./processors.ts";
import { runProcess } from "./run-process.ts";
import { runInLanes } from "./lanes.ts";
import { FLAKY_FILES_MAX, judge, planSecondRuns, type Verdict } from "./second-run.ts";
import { findTestFiles, writeEntry, type TestFile, type TestKind } from "./test-files.ts";

/** out/ of the clone, and the clone. */
const compiledRoot = dirname(dirname(import.meta.dirname));
const root = packageDirectory(compiledRoot);

interface Run extends RunOptions {
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

async function main(): Promise<number> {
  const options = parseRunOptions(process.argv.slice(2));
  if ("problems" in options) return refuse([...options.problems, USAGE]);
  if (options.disturb && process.platform !== "linux") return refuse(["--disturb works on Linux only"]);
  const seed = options.seed ?? testSeed();
  // Only a disturbed run is marked: a nested run of the runner's own tests belongs to the outer one.
  const runId = `${process.pid}-${seed}`;
  const run: Run = {
    ...options,
    directory: resolve(options.directory ?? compiledRoot),
    environment: {
      ...process.env,
      K8TS_SEED: String(seed),
      ...(options.torture ? { K8TS_TORTURE: "1" } : {}),
      ...(options.disturb ? { [RUN_VARIABLE]: runId } : {}),
    },
    signal: abortedBySignals(),
  };
  const began = readProcessorTimes();
  const files = await filesToRun(run);
  if ("problem" in files) return refuse([files.problem]);
  const counts = options.torture ? ", full counts" : "";
  console.log(`Node ${process.versions.node}, ${files.length} test files, seed ${seed} (K8TS_SEED)${counts}`);
  const disturbance = options.disturb ? startDisturbance(runId, seed) : undefined;
  const verdict = await runFiles(files, run).finally(() => disturbance?.end());
  if (disturbance !== undefined) console.log(`\nProcesses were stopped ${disturbance.stops} times`);
  const idle = idleShare(began, readProcessorTimes());
  return conclude(verdict, run, report.processorLines(processorTimeMs(), idle));
}

function refuse(lines: readonly string[]): number {
  console.error(lines.join("\n"));
  return USAGE_ERROR;
}

/** Exit code for invalid flags. */
const USAGE_ERROR = 2;

async function filesToRun(run: Run): Promise<readonly TestFile[] | { readonly problem: string }> {
  const files = findTestFiles(run.directory, run.patterns);
  if (run.since === undefined) return files;
  const changed = changedFiles(root, run.since);
  if ("problem" in changed) return changed;
  // Loaded lazily: loading the parser takes longer than running a small test.
  const [{ affectedTests }, { readSources }] = await Promise.all([import("./affected.ts"), import("../source/read-sources.ts")]);
  const affected = affectedTests(readSources(root, "src", "tools", "bench", "test"), changed);
  console.log(`${changed.length} files changed since ${run.since}${affected === "all" ? ": they can affect every test" : ""}`);
  return affected === "all" ? files : files.filter(({ name }) => affected.has(name));
}

/** With --repeat and --disturb every failure counts, so there is no second run. */
async function runFiles(files: readonly TestFile[], run: Run): Promise<Verdict> {
  const first = await runAll(files, run);
  if (run.repeat > 1 || run.disturb || run.signal.aborted) return { results: first, flaky: [] };
  const second: FileResult[] = [];
  for (const { files: again } of planSecondRuns(files, first)) {
    if (run.signal.aborted) break;
    console.log(`Rerunning alone: ${again.length === 1 ? again[0]?.name : `the ${again.length} files of the shared process`}`);
    const results = again.every(({ kind }) => kind === "shared") ? await sharedResults(again, run) : await ownResults(again, run);
    results.forEach(printFile);
    second.push(...results);
  }
  return judge(first, second);
}

async function runAll(files: readonly TestFile[], run: Run): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const add = (file: FileResult) => {
    results.push(file);
    printFile(file);
  };
  const of = (wanted: TestKind) => files.filter(({ kind }) => kind === wanted);
  const repeated = <T>(jobs: readonly T[]): T[] => Array.from({ length: run.repeat }, () => jobs).flat();
  const runOwn = async (file: TestFile) => (await ownResults([file], run)).forEach(add);
  const runShared = async () => (await sharedResults(of("shared"), run)).forEach(add);
  // The longest first, so that no lane ends up alone with it.
  const groups = [
    { concurrency: 1, jobs: of("shared").length === 0 ? [] : repeated([runShared]) },
    { concurrency: 1, jobs: repeated(of("machine")).map((file) => () => runOwn(file)) },
    { concurrency: run.lanes + run.spareLanes, jobs: repeated(checksFirst(of("own"))).map((file) => () => runOwn(file)) },
  ];
  await runInLanes(run.lanes, run.signal, groups, { count: run.spareLanes, hasIdleProcessor });
  return results;
}

/** The checks of the tree (tools/) are among the longest, and their findings are the most useful. */
function checksFirst(files: readonly TestFile[]): readonly TestFile[] {
  const isCheck = ({ name }: TestFile) => name.startsWith("tools/");
  return [...files.filter(isCheck), ...files.filter((file) => !isCheck(file))];
}

function printFile(file: FileResult): void {
  for (const line of [report.fileLine(file), ...report.earlyFailureLines(file)]) console.log(line);
}

async function ownResults(files: readonly TestFile[], run: Run): Promise<FileResult[]> {
  const results: FileResult[] = [];
  for (const { name, compiled } of files) results.push(ownFile(name, await runProcess({ ...run, file: compiled })));
  return results;
}

async function sharedResults(files: readonly TestFile[], run: Run): Promise<readonly FileResult[]> {
  const entry = join(run.directory, "shared-tests.mjs");
  writeEntry(entry, files);
  const outcome = await runProcess({ ...run, file: entry, timeoutMs: run.sharedTimeoutMs });
  console.log(report.sharedProcessLine(files.length, outcome));
  return sharedFiles(
    files.map(({ name }) => name),
    outcome,
  );
}

async function printSizes(): Promise<void> {
  const [{ sizeReport }, { readSources }] = await Promise.all([import("../sizes.ts"), import("../source/read-sources.ts")]);
  console.log(`\n${sizeReport(readSources(root, "src")).join("\n")}`);
}

async function conclude({ results, flaky }: Verdict, run: Run, processorLines: readonly string[]): Promise<number> {
  const lines = [
    ...report.failureLines(results),
    ...report.skippedLines(results),
    ...report.slowestLines(results),
    ...processorLines,
    ...report.repeatLines(results, run.repeat),
    ...report.flakyLines(flaky, FLAKY_FILES_MAX),
  ];
  for (const line of lines) console.log(line);
  if (run.directory === compiledRoot && run.patterns.length === 0) await printSizes();
  const count = report.countOf(results);
  if (run.signal.aborted) console.log("\nInterrupted by a signal");
  else if (count.passed + count.failed === 0) console.log("\nNo test was executed");
  console.log(`\n${report.closingLine(count)}`);
  if (run.signal.aborted) return INTERRUPTED;
  return count.failed === 0 && count.passed > 0 && flaky.length <= FLAKY_FILES_MAX ? 0 : 1;
}

/** Exit code of a shell for a program terminated by SIGINT. */
const INTERRUPTED = 130;

function abortedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => controller.abort());
  return controller.signal;
}

process.exitCode = await main();
