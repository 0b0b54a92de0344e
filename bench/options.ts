/** The command line of the benchmarks. */
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";

export interface BenchOptions {
  readonly benchmarks: readonly Benchmark[];
  /** Directory of temporary files: selects the disk to measure. */
  readonly directory: string;
  /** JSON file to write the figures to. */
  readonly json: string | undefined;
  /** Benchmarks that take long run in their full length. */
  readonly isFull: boolean;
}

export type ParsedOptions = { readonly help: true } | { readonly problem: string } | BenchOptions;

/** `defaults.directory`: used without --directory. */
export function parseBenchOptions(
  argv: readonly string[],
  all: readonly Benchmark[],
  defaults: { readonly directory: string },
): ParsedOptions {
  const options = {
    help: { type: "boolean" },
    json: { type: "string" },
    directory: { type: "string" },
    full: { type: "boolean" },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    if (values.help === true) return { help: true };
    const unknown = positionals.filter((wanted) => !all.some(({ name }) => isNamed(name, wanted)));
    if (unknown.length > 0) return { problem: `Cannot find the benchmark ${unknown.map((name) => JSON.stringify(name)).join(", ")}` };
    return {
      benchmarks: all.filter(({ name }) => positionals.length === 0 || positionals.some((wanted) => isNamed(name, wanted))),
      directory: values.directory ?? defaults.directory,
      json: values.json,
      isFull: values.full === true,
    };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

export function usage(all: readonly Benchmark[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  return `Usage: npm run bench -- [--json FILE] [--directory DIRECTORY] [--full] [NAME ...]

Measures, and prints one line per figure:
  NAME VALUE UNIT baseline=V ratio=R budget=B spread=S ok|short
VALUE is the median of the repetitions, V that of the baseline, measured alternately; R the median of their ratios; B the target
of R, or of VALUE without a baseline; S the difference between the highest and the lowest value, as a fraction of VALUE.
Fields that do not apply are omitted. A figure that misses its target is "short", which is not an error: this is a report.

  --json FILE            also write the figures to FILE, as a JSON array
  --directory DIRECTORY  measure the disk of this directory (default: the system's directory for temporary files)
  --full                 run benchmarks that take long in their full length: cluster/limits then takes about half an hour

Benchmarks (NAME is one, or a room such as "store"; default: all):
${all.map(({ name, measures }) => `  ${name.padEnd(width)}  ${measures}`).join("\n")}`;
}

/** "store" selects all benchmarks of that room. */
function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name.startsWith(`${wanted}/`);
}
