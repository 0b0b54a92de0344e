import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { Counter, exponentialBounds, Gauge, Histogram } from "./metric-series.ts";
import { prometheusText } from "./prometheus-text.ts";

const NAME = { name: "n", help: "h" };

test("each label combination is counted separately until it is removed", () => {
  const counter = new Counter(NAME);

  counter.add({ a: "1", b: "2" });
  counter.add({ a: "1", b: "2" }, 2);
  counter.add({ a: "12", b: "" });
  counter.remove({ a: "12", b: "" });

  deepEqual(counter.family().samples, [{ labels: { a: "1", b: "2" }, value: 3 }]);
});

test("a value falls into the first bucket whose bound it does not exceed", () => {
  const histogram = new Histogram({ ...NAME, bounds: [1, 2] });

  for (const value of [1, 1.5, 2, 3]) histogram.observe({}, value);

  equal(
    prometheusText([histogram.family()]),
    '# HELP n h\n# TYPE n histogram\nn_bucket{le="1"} 1\nn_bucket{le="2"} 3\nn_bucket{le="+Inf"} 4\nn_sum 7.5\nn_count 4\n',
  );
});

test("a gauge has the last value of each label combination", () => {
  const gauge = new Gauge(NAME);

  gauge.set({ a: "1" }, 5);
  gauge.set({ a: "2" }, 6);
  gauge.set({ a: "1" }, 4);
  gauge.remove({ a: "2" });

  deepEqual(gauge.family(), { ...NAME, type: "gauge", samples: [{ labels: { a: "1" }, value: 4 }] });
});

test("exponential bounds are decimal numbers", () => {
  deepEqual(exponentialBounds(0.004, 2, 6), [0.004, 0.008, 0.016, 0.032, 0.064, 0.128]);
});

test("beyond the series limit new label combinations are dropped and known ones are still counted", () => {
  const counter = new Counter({ ...NAME, seriesMax: 1 });
  const histogram = new Histogram({ ...NAME, bounds: [1], seriesMax: 1 });

  for (const a of ["first", "second", "first"]) {
    counter.add({ a });
    histogram.observe({ a }, 1);
  }

  deepEqual(counter.family().samples, [{ labels: { a: "first" }, value: 2 }]);
  deepEqual(
    histogram.family().samples.map(({ labels, count }) => [labels["a"], count]),
    [["first", 2]],
  );
});
