import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { Figure } from "./benchmark.ts";
import { figureOf, lineOf, median, reportOf } from "./figure.ts";

for (const { values, expected } of [
  { values: [3], expected: 3 },
  { values: [10, 1, 9], expected: 9 },
  { values: [4, 1, 2, 9], expected: 3 },
]) {
  test(`the median of ${values.join(", ")} is ${expected}`, () => equal(median(values), expected));
}

test("a figure has the median, the spread, and the median of the repetitions' ratios", () => {
  const figure = figureOf({ name: "n", unit: "ms", values: [10, 30, 20], baselines: [10, 10, 40], budget: { atLeast: 0.7 } });

  deepEqual(figure, { name: "n", value: 20, unit: "ms", baseline: 10, ratio: 1, budget: { atLeast: 0.7 }, spread: 1 });
});

test("a single sample has no spread", () => {
  deepEqual(figureOf({ name: "n", unit: "ms", values: [10] }), { name: "n", value: 10, unit: "ms" });
});

const bare: Figure = { name: "store/x", value: 1234.5678, unit: "commits/s" };
for (const { what, figure, line } of [
  { what: "without optional fields", figure: bare, line: "store/x 1235 commits/s" },
  {
    what: "with all fields",
    figure: { ...bare, baseline: 1500, ratio: 0.8231, budget: { atLeast: 0.7 }, spread: 0.0512 },
    line: "store/x 1235 commits/s baseline=1500 ratio=0.823 budget=0.7 spread=0.05 ok",
  },
  {
    what: "with a ratio below its budget",
    figure: { ...bare, ratio: 0.5, budget: { atLeast: 0.7 } },
    line: "store/x 1235 commits/s ratio=0.5 budget=0.7 short",
  },
  {
    what: "with a value above its budget",
    figure: { ...bare, budget: { atMost: 1000 } },
    line: "store/x 1235 commits/s budget=1000 short",
  },
  {
    what: "that meets its budget only after rounding",
    figure: { ...bare, value: 2.0004, budget: { atMost: 2 } },
    line: "store/x 2 commits/s budget=2 ok",
  },
] satisfies { what: string; figure: Figure; line: string }[]) {
  test(`a figure ${what} is formatted as one line`, () => equal(lineOf(reportOf(figure)), line));
}
