import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { MetricSet, type CounterDefinition, type GaugeDefinition, type HistogramDefinition } from "./metric-set.ts";

const COUNTED: CounterDefinition = { type: "counter", name: "b_total", help: "h" };
const SIZE: GaugeDefinition = { type: "gauge", name: "c", help: "h" };
const DURATION: HistogramDefinition = { type: "histogram", name: "a_seconds", help: "h", bounds: [1] };

test("a metric set has a family per definition that was used, sorted by name", () => {
  const metrics = new MetricSet();

  metrics.set(SIZE, { zone: "x" }, 3);
  metrics.set(SIZE, { zone: "gone" }, 4);
  metrics.remove(SIZE, { zone: "gone" });
  metrics.count(COUNTED);
  metrics.count(COUNTED, {}, 2);
  metrics.observe(DURATION, {}, 0.5);

  deepEqual(
    metrics.families().map(({ name, type, samples }) => [name, type, samples]),
    [
      ["a_seconds", "histogram", [{ labels: {}, counts: [1, 0], sum: 0.5, count: 1 }]],
      ["b_total", "counter", [{ labels: {}, value: 3 }]],
      ["c", "gauge", [{ labels: { zone: "x" }, value: 3 }]],
    ],
  );
  deepEqual(new MetricSet().families(), []);
});
