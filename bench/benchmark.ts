/**
 * The contract of a benchmark: a name, a sentence, and figures that come one by one. A benchmark reports and never judges the
 * build: a figure that misses its budget is "short", and the run still succeeds.
 * Not here: which benchmarks there are (all.ts), how figures are written (figure.ts), how often something is measured (rounds.ts).
 */
import type { Rounds } from "./rounds.ts";

/** What a figure should be. It is for the ratio where there is one, otherwise for the value. */
export type Budget = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  /** `<name of the benchmark>-<what>`, without spaces. */
  readonly name: string;
  /** The median of the repetitions. */
  readonly value: number;
  readonly unit: string;
  /** The same, done by the bare part that this is compared to, in the same run. */
  readonly baseline?: number;
  /** The median of value/baseline of each repetition: what slows the machine for a while slows both sides of a repetition. */
  readonly ratio?: number;
  readonly budget?: Budget;
  /** From the least to the greatest value of the repetitions, as a part of the median. */
  readonly spread?: number;
}

export interface BenchmarkContext {
  /** An empty directory on the disk that is measured. Removed afterwards with all that is in it. */
  readonly directory: string;
  readonly rounds: Rounds;
  /** Aborted when the run is stopped: children end with it, and so does the benchmark. */
  readonly signal: AbortSignal;
  /** Tells the reader something that is not a figure, such as why there is none. */
  note(sentence: string): void;
}

export interface Benchmark {
  /** `<room>/<part>`: `npm run bench -- store` runs all of a room. */
  readonly name: string;
  /** For the help: what is measured, and beside what. */
  readonly measures: string;
  /** Whatever it starts is gone when the iteration ends, also when it ends early. */
  run(context: BenchmarkContext): AsyncIterable<Figure>;
}
