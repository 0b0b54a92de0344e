/**
 * The contract of a benchmark: a name, a sentence, and figures that are yielded one by one. A benchmark reports and never fails the build:
 * a figure that misses its budget is "short", and the run still succeeds. Not here: the list of benchmarks (all.ts), formatting of figures
 * (figure.ts), the number of repetitions (rounds.ts).
 */
import type { Rounds } from "./rounds.ts";

/** Target of a figure. Applies to the ratio if there is a baseline, otherwise to the value. */
export type Budget = { readonly atLeast: number } | { readonly atMost: number };

export interface Figure {
  /** `<name of the benchmark>-<what>`, without spaces. */
  readonly name: string;
  /** The median of the repetitions. */
  readonly value: number;
  readonly unit: string;
  /** The same operation on the bare baseline, in the same run. */
  readonly baseline?: number;
  /** Median of value/baseline per repetition: a temporary slowdown of the machine affects both sides of a repetition. */
  readonly ratio?: number;
  readonly budget?: Budget;
  /** Difference between the highest and the lowest value, as a fraction of the median. */
  readonly spread?: number;
}

export interface BenchmarkContext {
  /** An empty directory on the measured disk. Removed afterwards with its content. */
  readonly directory: string;
  readonly rounds: Rounds;
  /** True with --full: benchmarks that take long run in their full length. */
  readonly isFull: boolean;
  /** Aborted when the run is interrupted: ends the children and the benchmark. */
  readonly signal: AbortSignal;
  /** Prints a remark that is not a figure, such as the reason why one is missing. */
  note(sentence: string): void;
}

export interface Benchmark {
  /** `<room>/<part>`: `npm run bench -- store` runs all benchmarks of a room. */
  readonly name: string;
  /** For the help: what is measured, and the baseline. */
  readonly measures: string;
  /** All processes it starts have ended when the iteration ends, early exit included. */
  run(context: BenchmarkContext): AsyncIterable<Figure>;
}
