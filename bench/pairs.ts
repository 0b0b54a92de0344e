/** The certainty of a median of paired samples, without an assumption about their distribution. */

/** 97.5 % quantile of the normal distribution, which approximates the binomial one of the ranks. */
const QUANTILE = 1.96;

/** 95 % confidence interval of the median, by the ranks of the samples: at least 10 of them. */
export function confidenceOfMedian(samples: readonly number[]): readonly [low: number, high: number] {
  const sorted = samples.toSorted((a, b) => a - b);
  const { length } = sorted;
  const distance = (QUANTILE * Math.sqrt(length)) / 2;
  const at = (rank: number): number => sorted[Math.min(Math.max(rank, 0), length - 1)] ?? Number.NaN;
  return [at(Math.floor(length / 2 - distance)), at(Math.ceil(length / 2 + distance) - 1)];
}
