/** Work-queue metrics of all controllers, and those of each (MetricSet), under upstream's names, so that dashboards work. Counting is an addition. */
import type { MetricSet } from "../../base/metrics/metric-set.ts";
import type { Family, HistogramFamily, HistogramSample } from "../../base/metrics/prometheus-text.ts";

/** Bucket bounds in seconds: upstream's for work queues, powers of ten from 10 ns to 1,000 s, the relevant part. */
const BOUNDS_S = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100, 1_000] as const;

class Histogram {
  readonly counts = Array.from({ length: BOUNDS_S.length + 1 }, () => 0);
  sum = 0;
  count = 0;

  observe(seconds: number): void {
    let bucket = 0;
    while (bucket < BOUNDS_S.length && seconds > (BOUNDS_S[bucket] as number)) bucket++;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += seconds;
    this.count++;
  }
}

/** Of one controller. */
export class ControllerStatistics {
  /** Adds, including those of keys already queued. */
  adds = 0;
  passes = 0;
  failures = 0;
  /** Retries after failures. */
  retries = 0;
  readonly waited = new Histogram();
  readonly worked = new Histogram();
}

export interface QueueNow {
  readonly depth: number;
  readonly inProgress: number;
  /** For how long each key in progress has been reconciled. */
  readonly unfinishedSeconds: readonly number[];
}

export interface ControllerMetrics {
  readonly name: string;
  readonly statistics: ControllerStatistics;
  /** Its own, besides those of the queue. */
  readonly metrics: MetricSet;
  now(): QueueNow;
}

export function metricFamilies(controllers: readonly ControllerMetrics[]): readonly (Family | HistogramFamily)[] {
  const family = (name: string, type: Family["type"], help: string, read: (controller: ControllerMetrics) => number): Family => ({
    name,
    type,
    help,
    samples: controllers.map((controller) => ({ labels: { name: controller.name }, value: read(controller) })),
  });
  const histogram = (name: string, help: string, read: (statistics: ControllerStatistics) => Histogram): HistogramFamily => ({
    name,
    type: "histogram",
    help,
    bounds: BOUNDS_S,
    samples: controllers.map(({ name: label, statistics }): HistogramSample => {
      const { counts, sum, count } = read(statistics);
      return { labels: { name: label }, counts, sum, count };
    }),
  });
  return [
    family("workqueue_adds_total", "counter", "Number of keys added to the work queue", ({ statistics }) => statistics.adds),
    family("workqueue_depth", "gauge", "Number of keys in the work queue", (controller) => controller.now().depth),
    family(
      "workqueue_retries_total",
      "counter",
      "Number of keys queued again after a failed reconciliation",
      ({ statistics }) => statistics.retries,
    ),
    family(
      "workqueue_unfinished_work_seconds",
      "gauge",
      "Seconds that the reconciliations in progress have taken so far, together",
      (one) => one.now().unfinishedSeconds.reduce((sum, seconds) => sum + seconds, 0),
    ),
    family(
      "workqueue_longest_running_processor_seconds",
      "gauge",
      "Seconds that the longest reconciliation in progress has taken so far",
      (one) => Math.max(0, ...one.now().unfinishedSeconds),
    ),
    family("k8ts_controller_in_progress", "gauge", "Number of keys being reconciled", (controller) => controller.now().inProgress),
    histogram("workqueue_queue_duration_seconds", "Time in seconds that keys spent in the work queue", ({ waited }) => waited),
    histogram("workqueue_work_duration_seconds", "Duration in seconds of reconciling a key", ({ worked }) => worked),
    family(
      "k8ts_controller_passes_total",
      "counter",
      "Number of reconciliations, including failed ones",
      ({ statistics }) => statistics.passes,
    ),
    family("k8ts_controller_failures_total", "counter", "Number of failed reconciliations", ({ statistics }) => statistics.failures),
    ...controllers.flatMap(({ metrics }) => metrics.families()),
  ];
}
