/** Normalises counts to scores: the highest becomes 100, and with `reverse` 0, since then a count is bad. */
import { SCORE_MAX } from "./plugin.ts";

/** In place. Counts and scores are non-negative integers. */
export function normalizeCounts(counts: Float64Array, options: { readonly reverse: boolean }): void {
  let max = 0;
  for (const count of counts) if (count > max) max = count;
  if (max === 0) {
    if (options.reverse) counts.fill(SCORE_MAX);
    return;
  }
  for (let index = 0; index < counts.length; index++) {
    const score = Math.floor((SCORE_MAX * (counts[index] as number)) / max);
    counts[index] = options.reverse ? SCORE_MAX - score : score;
  }
}
