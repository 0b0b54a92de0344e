import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../src/base/random.ts";
import { confidenceOfMedian } from "./pairs.ts";

test("the confidence interval of a median is given by the ranks of the samples", () => {
  deepEqual(confidenceOfMedian(Array.from({ length: 100 }, (_, index) => index)), [40, 59]);
});

test("the confidence interval contains the true median of 19 of 20 series, whatever the outliers", () => {
  const random = seededRandom(1);
  const series = Array.from({ length: 400 }, () => Array.from({ length: 200 }, () => (random.fraction() < 0.1 ? 100 : random.fraction())));

  // A tenth of the samples is an outlier above, so the true median is at 5/9 of the others.
  const hits = series.map(confidenceOfMedian).filter(([low, high]) => low <= 5 / 9 && 5 / 9 <= high).length;

  equal(hits >= 370 && hits <= 392, true, String(hits));
});
