/** Computes a figure from samples, and formats it as a line and as JSON, both with the same rounded numbers. */
import type { Budget, Figure } from "./benchmark.ts";

/** Significant digits; the noise of a machine exceeds the rest. */
const DIGITS = 3;

/** Decimal places of a spread. */
const SPREAD_DECIMALS = 2;

/** Fields of a figure, in the order of the line. */
export interface Report {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly baseline?: number;
  readonly ratio?: number;
  readonly budget?: number;
  readonly spread?: number;
  readonly verdict?: "ok" | "short";
}

export interface SampledFigure {
  readonly name: string;
  readonly unit: string;
  /** One per repetition. */
  readonly values: readonly number[];
  /** Samples of the baseline in the same repetitions, in the same order. */
  readonly baselines?: readonly number[];
  readonly budget?: Budget;
}

export function figureOf({ name, unit, values, baselines, budget }: SampledFigure): Figure {
  const value = median(values);
  return {
    name,
    value,
    unit,
    ...(baselines === undefined
      ? {}
      : { baseline: median(baselines), ratio: median(values.map((each, index) => each / (baselines[index] ?? Number.NaN))) }),
    ...(budget === undefined ? {} : { budget }),
    ...(values.length < 2 ? {} : { spread: (Math.max(...values) - Math.min(...values)) / value }),
  };
}

/** The middle value, or the mean of the two middle ones. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

export function reportOf({ name, value, unit, baseline, ratio, budget, spread }: Figure): Report {
  const limit = budget === undefined ? undefined : "atLeast" in budget ? budget.atLeast : budget.atMost;
  return {
    name,
    value: rounded(value),
    unit,
    ...(baseline === undefined ? {} : { baseline: rounded(baseline) }),
    ...(ratio === undefined ? {} : { ratio: rounded(ratio) }),
    ...(limit === undefined ? {} : { budget: limit }),
    ...(spread === undefined ? {} : { spread: Number(spread.toFixed(SPREAD_DECIMALS)) }),
    ...(budget === undefined ? {} : { verdict: isMet(budget, ratio ?? value) ? "ok" : "short" }),
  };
}

/** `store/commits-16-writers 5210 commits/s baseline=6030 ratio=0.864 budget=0.7 spread=0.05 ok` */
export function lineOf({ name, value, unit, verdict, ...fields }: Report): string {
  const named = Object.entries(fields).map(([field, number]) => `${field}=${number}`);
  return [name, value, unit, ...named, ...(verdict === undefined ? [] : [verdict])].join(" ");
}

/** Compared after rounding, so that no line contradicts itself. */
function isMet(budget: Budget, value: number): boolean {
  return "atLeast" in budget ? rounded(value) >= budget.atLeast : rounded(value) <= budget.atMost;
}

function rounded(value: number): number {
  return Math.abs(value) >= 10 ** DIGITS ? Math.round(value) : Number(value.toPrecision(DIGITS));
}
