/**
 * `npm run bench`: runs the benchmarks sequentially and prints a line per figure as soon as it is known. The last figures are those of the
 * run itself: CPU steal and the number of repeated rounds. The exit code is 0 even if figures are short, since this is a report; it is not
 * 0 if a measurement failed.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { all } from "./all.ts";
import type { Benchmark, BenchmarkContext, Figure } from "./benchmark.ts";
import { readCpuTimes } from "./cpu-steal.ts";
import { lineOf, reportOf, type Report } from "./figure.ts";
import { parseBenchOptions, usage, type BenchOptions } from "./options.ts";
import { Rounds, STEAL_PERCENT_MAX } from "./rounds.ts";

/** Exit codes: a measurement failed, the command line is invalid, the run was interrupted. */
const FAILED = 1;
const MISUSED = 2;
const INTERRUPTED = 130;

async function main(): Promise<number> {
  const options = parseBenchOptions(process.argv.slice(2), all, { directory: tmpdir() });
  if ("help" in options) {
    console.log(usage(all));
    return 0;
  }
  if ("problem" in options) {
    console.error(`${options.problem}\nnpm run bench -- --help lists the benchmarks`);
    return MISUSED;
  }
  return runAll(options);
}

async function runAll({ benchmarks, directory, json, isFull }: BenchOptions): Promise<number> {
  const reports: Report[] = [];
  const report = (figure: Figure) => {
    const made = reportOf(figure);
    reports.push(made);
    console.log(lineOf(made));
  };
  const rounds = new Rounds(readCpuTimes);
  const signal = abortedBySignals();
  let failed = 0;
  for (const benchmark of benchmarks) {
    try {
      await runOne(benchmark, { directory, rounds, isFull, signal, report });
    } catch (error) {
      if (signal.aborted) return INTERRUPTED;
      failed += 1;
      console.error(`Cannot run ${benchmark.name}:`, error);
    }
  }
  report({ name: "run/cpu-steal", value: rounds.stealPercent, unit: "%", budget: { atMost: STEAL_PERCENT_MAX } });
  report({ name: "run/rounds-repeated", value: rounds.repeated, unit: "rounds" });
  if (json !== undefined) await writeFile(json, `${JSON.stringify(reports, undefined, 2)}\n`);
  return failed === 0 ? 0 : FAILED;
}

interface Run extends Pick<BenchmarkContext, "rounds" | "isFull" | "signal"> {
  readonly directory: string;
  readonly report: (figure: Figure) => void;
}

async function runOne(benchmark: Benchmark, { directory, rounds, isFull, signal, report }: Run): Promise<void> {
  await mkdir(directory, { recursive: true });
  const own = await mkdtemp(join(directory, "k8ts-bench-"));
  const note = (sentence: string) => console.log(`# ${benchmark.name}: ${sentence}`);
  try {
    for await (const figure of benchmark.run({ directory: own, rounds, isFull, signal, note })) report(figure);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** An interrupted benchmark still removes its files. */
function abortedBySignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => controller.abort());
  return controller.signal;
}

process.exitCode = await main();
