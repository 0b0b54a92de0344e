import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { normalizeCounts } from "./normalize-scores.ts";

const CASES: readonly (readonly [counts: readonly number[], scores: readonly number[], reversed: readonly number[]])[] = [
  [
    [1, 2, 3, 4],
    [25, 50, 75, 100],
    [75, 50, 25, 0],
  ],
  [
    [1000, 10, 20, 30],
    [100, 1, 2, 3],
    [0, 99, 98, 97],
  ],
  // Rounded down first, and only then turned round.
  [
    [1, 3],
    [33, 100],
    [67, 0],
  ],
  [
    [0, 0],
    [0, 0],
    [100, 100],
  ],
  [[], [], []],
];

for (const [counts, scores, reversed] of CASES) {
  test(`the counts [${counts.join(" ")}] become the scores [${scores.join(" ")}], and reversed [${reversed.join(" ")}]`, () => {
    deepEqual(normalized(counts, false), scores);
    deepEqual(normalized(counts, true), reversed);
  });
}

function normalized(counts: readonly number[], reverse: boolean): readonly number[] {
  const array = Float64Array.from(counts);
  normalizeCounts(array, { reverse });
  return [...array];
}
