import { deepEqual, throws } from "node:assert/strict";
import { test } from "node:test";
import { metricsBetween, readPageSample } from "./page-sample.ts";

const LIMIT = { seriesMax: 100 };

function between(before: string, now: string) {
  const [first, second] = [readPageSample(before, { ...LIMIT, atMs: 0 }), readPageSample(now, { ...LIMIT, atMs: 2_000 })];
  return Object.fromEntries(metricsBetween(first, second));
}

const ROWS: readonly [title: string, before: string, now: string, metrics: ReturnType<typeof between>][] = [
  ["a gauge is its value", "# TYPE a gauge\na 1", "# TYPE a gauge\na 3", { a: [{ labels: {}, value: 3 }] }],
  ["a metric without a type is its value", "a_total 1", "a_total 3", { a_total: [{ labels: {}, value: 3 }] }],
  [
    "a counter is its rate, without _total",
    "# TYPE a_total counter\na_total 1",
    "# TYPE a_total counter\na_total 3",
    { a: [{ labels: {}, value: 1, windowMs: 2_000 }] },
  ],
  [
    "a counter of OpenMetrics is its rate",
    "# TYPE a counter\na_total 1",
    "# TYPE a counter\na_total 3",
    { a: [{ labels: {}, value: 1, windowMs: 2_000 }] },
  ],
  [
    "a counter that began again counts from zero",
    "# TYPE a counter\na 9",
    "# TYPE a counter\na 4",
    { a: [{ labels: {}, value: 2, windowMs: 2_000 }] },
  ],
  ["a new series of a counter has no rate yet", "# TYPE a counter\na 9", '# TYPE a counter\na{b="c"} 4', {}],
  [
    "a histogram is the rates of its sum and count",
    '# TYPE h histogram\nh_bucket{le="1"} 1\nh_sum 0\nh_count 2',
    '# TYPE h histogram\nh_bucket{le="1"} 5\nh_sum 4\nh_count 4',
    { h_sum: [{ labels: {}, value: 2, windowMs: 2_000 }], h_count: [{ labels: {}, value: 1, windowMs: 2_000 }] },
  ],
  ["quantiles of a summary and values that are no numbers are left out", "", '# TYPE s summary\ns{quantile="0.5"} 1\nb NaN\nc +Inf', {}],
];

for (const [title, before, now, metrics] of ROWS) {
  test(`page metrics: ${title}`, () => deepEqual(between(before, now), metrics));
}

test("without a previous scrape a page has no rates", () => {
  const sample = readPageSample("# TYPE a counter\na 1\nb 2", { ...LIMIT, atMs: 0 });

  deepEqual(Object.keys(Object.fromEntries(metricsBetween(undefined, sample))), ["b"]);
});

test("a page with too many series is rejected as a whole", () => {
  throws(() => readPageSample("a 1\nb 2", { seriesMax: 1, atMs: 0 }), /the page has more than 1 series/);
});
