/**
 * `npm test`: runs the compiled test files and prints a line for each with the first of what failed in it, then everything about what failed, what was skipped and
 * why, how large files and functions are, and as its last line the count. The exit code is 1 if anything failed or nothing ran.
 * Checks (types, lint, format, layers, tidiness) are ordinary test files in tools/.
 */
import { dirname, join, resolve } from "node:path";
import { packageDirectory } from "../../src/testing/package-directory.ts";
import { testSeed } from "../../src/testing/rounds.ts";
import { ownFile, sharedFiles, type FileResult } from "./file-result.ts";
import { parseRunOptions, USAGE, type RunOptions } from "./options.ts";
import { closingLine, countOf, earlyFailureLines, failureLines, fileLine, skippedLines } from "./report.ts";
import { runProcess } from "./run-process.ts";
import { inLanes } from "./lanes.ts";
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
  if ("problems" in options) {
    console.error([...options.problems, USAGE].join("\n"));
    return 2;
  }
  const seed = options.seed ?? testSeed();
  const run: Run = {
    ...options,
    directory: resolve(options.directory ?? compiledRoot),
    environment: { ...process.env, K8TS_SEED: String(seed), ...(options.torture ? { K8TS_TORTURE: "1" } : {}) },
    signal: abortedBySignals(),
  };
  const files = findTestFiles(run.directory, options.patterns);
  console.log(
    `Node ${process.versions.node}, ${files.length} test files, seed ${seed} (K8TS_SEED)${options.torture ? ", full counts" : ""}`,
  );

  const results = await runAll(files, run);

  for (const line of [...failureLines(results), ...skippedLines(results)]) console.log(line);
  if (options.directory === undefined && options.patterns.length === 0) await printSizes();
  return conclude(results, run);
}

async function runAll(files: readonly TestFile[], run: Run): Promise<FileResult[]> {
  const results: FileResult[] = [];
  const add = (file: FileResult) => {
    results.push(file);
    for (const line of [fileLine(file), ...earlyFailureLines(file)]) console.log(line);
  };
  const of = (wanted: TestKind) => files.filter(({ kind }) => kind === wanted);
  const runOwn = async ({ name, compiled }: TestFile) => add(ownFile(name, await runProcess({ ...run, file: compiled })));
  const runShared = async () => (await sharedResults(of("shared"), run)).forEach(add);
  // The longest first, so that no lane is left alone with it.
  await inLanes(run.lanes, run.signal, [
    { atOnce: 1, jobs: of("shared").length === 0 ? [] : [runShared] },
    { atOnce: 1, jobs: of("machine").map((file) => () => runOwn(file)) },
    { atOnce: run.lanes, jobs: of("own").map((file) => () => runOwn(file)) },
  ]);
  return results;
}

async function sharedResults(files: readonly TestFile[], run: Run): Promise<readonly FileResult[]> {
  const entry = join(run.directory, "shared-tests.mjs");
  writeEntry(entry, files);
  return sharedFiles(
    files.map(({ name }) => name),
    await runProcess({ ...run, file: entry }),
  );
}

/** Loaded only when wanted: the parser takes longer to load than a small test to run. */
async function printSizes(): Promise<void> {
  const [{ sizeReport }, { readSources }] = await Promise.all([import("../sizes.ts"), import("../source/read-sources.ts")]);
  console.log(`\n${sizeReport(readSources(root, "src")).join("\n")}`);
}

function conclude(results: readonly FileResult[], run: Run): number {
  const count = countOf(results);
  if (run.signal.aborted) console.log("\nStopped by a signal before the end");
  else if (count.passed + count.failed === 0) console.log("\nNot one test was executed");
  console.log(`\n${closingLine(count)}`);
  if (run.signal.aborted) return INTERRUPTED;
  return count.failed === 0 && count.passed > 0 ? 0 : 1;
}

/** What a shell reports of a program that was ended by SIGINT. */
const INTERRUPTED = 130;

function abortedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => controller.abort());
  return controller.signal;
}

process.exitCode = await main();
