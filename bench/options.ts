/** The command line of the benchmarks. */
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmark.ts";

export interface BenchOptions {
  readonly benchmarks: readonly Benchmark[];
  /** Where the temporary files are: the disk that is measured. */
  readonly directory: string;
  /** Where the figures are written as JSON, if anywhere. */
  readonly json: string | undefined;
}

export type ParsedOptions = { readonly help: true } | { readonly problem: string } | BenchOptions;

/** `defaults.directory`: where to measure unless told otherwise. */
export function parseBenchOptions(
  argv: readonly string[],
  all: readonly Benchmark[],
  defaults: { readonly directory: string },
): ParsedOptions {
  const options = { help: { type: "boolean" }, json: { type: "string" }, directory: { type: "string" } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true });
    if (values.help === true) return { help: true };
    const unknown = positionals.filter((wanted) => !all.some(({ name }) => isNamed(name, wanted)));
    if (unknown.length > 0) return { problem: `Cannot find the benchmark ${unknown.map((name) => JSON.stringify(name)).join(", ")}` };
    return {
      benchmarks: all.filter(({ name }) => positionals.length === 0 || positionals.some((wanted) => isNamed(name, wanted))),
      directory: values.directory ?? defaults.directory,
      json: values.json,
    };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

export function usage(all: readonly Benchmark[]): string {
  const width = Math.max(...all.map(({ name }) => name.length));
  return `Usage: npm run bench -- [--json FILE] [--directory DIRECTORY] [NAME ...]

Measures, and prints one line per figure:
  NAME VALUE UNIT baseline=V ratio=R budget=B spread=S ok|short
VALUE is the median of the repetitions, V that of the bare part it is compared to, measured in turn with it; R the median of
their quotients; B what R should reach or not exceed, or VALUE where there is no R; S the distance from the least to the
greatest value as a part of VALUE. What does not apply is left out. A figure that is short is no error: this is a report.

  --json FILE            also write the figures to FILE, as a JSON array
  --directory DIRECTORY  measure the disk of this directory (default: the system's directory for temporary files)

Benchmarks (NAME is one, or a room such as "store"; default: all):
${all.map(({ name, measures }) => `  ${name.padEnd(width)}  ${measures}`).join("\n")}`;
}

/** "store" names all of that room. */
function isNamed(name: string, wanted: string): boolean {
  return name === wanted || name.startsWith(`${wanted}/`);
}
