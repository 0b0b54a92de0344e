import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { MetricSet } from "../../base/metrics/metric-set.ts";
import { prometheusText } from "../../base/metrics/prometheus-text.ts";
import { ControllerStatistics, metricFamilies, type ControllerMetrics, type QueueNow } from "./metrics.ts";

/** Like a running controller, whose `now` needs its `this`. */
class Fixed implements ControllerMetrics {
  readonly name: string;
  readonly statistics = new ControllerStatistics();
  readonly metrics = new MetricSet();
  readonly #now: QueueNow;

  constructor(name: string, now: QueueNow) {
    this.name = name;
    this.#now = now;
  }

  now(): QueueNow {
    return this.#now;
  }
}

/** Lines without help and type, and without empty or redundant buckets. */
function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket"));
}

test("controller metrics have upstream's names, so that dashboards work", () => {
  const [a, b] = [
    new Fixed("a", { depth: 2, inProgress: 1, unfinishedSeconds: [2, 3] }),
    new Fixed("b", { depth: 0, inProgress: 0, unfinishedSeconds: [] }),
  ];
  Object.assign(a.statistics, { adds: 5, passes: 3, failures: 2, retries: 1 });
  a.statistics.waited.observe(0.5);
  a.statistics.waited.observe(20);
  a.statistics.worked.observe(0.25);
  a.metrics.count({ type: "counter", name: "own_total", help: "h" }, { kind: "x" });

  deepEqual(linesOf(prometheusText(metricFamilies([a, b]))), [
    'workqueue_adds_total{name="a"} 5',
    'workqueue_adds_total{name="b"} 0',
    'workqueue_depth{name="a"} 2',
    'workqueue_depth{name="b"} 0',
    'workqueue_retries_total{name="a"} 1',
    'workqueue_retries_total{name="b"} 0',
    'workqueue_unfinished_work_seconds{name="a"} 5',
    'workqueue_unfinished_work_seconds{name="b"} 0',
    'workqueue_longest_running_processor_seconds{name="a"} 3',
    'workqueue_longest_running_processor_seconds{name="b"} 0',
    'k8ts_controller_in_progress{name="a"} 1',
    'k8ts_controller_in_progress{name="b"} 0',
    'workqueue_queue_duration_seconds_sum{name="a"} 20.5',
    'workqueue_queue_duration_seconds_count{name="a"} 2',
    'workqueue_queue_duration_seconds_sum{name="b"} 0',
    'workqueue_queue_duration_seconds_count{name="b"} 0',
    'workqueue_work_duration_seconds_sum{name="a"} 0.25',
    'workqueue_work_duration_seconds_count{name="a"} 1',
    'workqueue_work_duration_seconds_sum{name="b"} 0',
    'workqueue_work_duration_seconds_count{name="b"} 0',
    'k8ts_controller_passes_total{name="a"} 3',
    'k8ts_controller_passes_total{name="b"} 0',
    'k8ts_controller_failures_total{name="a"} 2',
    'k8ts_controller_failures_total{name="b"} 0',
    'own_total{kind="x"} 1',
  ]);
});

test("a duration falls into the first bucket whose bound it does not exceed, and a longer one into the last", () => {
  const one = new Fixed("a", { depth: 0, inProgress: 0, unfinishedSeconds: [] });
  for (const seconds of [0, 0.1, 0.2, 1, 5_000]) one.statistics.worked.observe(seconds);
  const buckets = prometheusText(metricFamilies([one]))
    .split("\n")
    .flatMap((line) => /^workqueue_work_duration_seconds_bucket\{name="a",le="(.*)"\} (\d+)$/.exec(line)?.slice(1).join(" ") ?? []);

  deepEqual(buckets, ["0.000001 1", "0.00001 1", "0.0001 1", "0.001 1", "0.01 1", "0.1 2", "1 4", "10 4", "100 4", "1000 4", "+Inf 5"]);
});

test("without controllers there are no metrics", () => {
  deepEqual(prometheusText(metricFamilies([])), "");
});
