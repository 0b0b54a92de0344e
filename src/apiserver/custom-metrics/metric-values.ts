/** Values of metrics in the forms of custom.metrics.k8s.io and external.metrics.k8s.io. Pure. */
import type { JsonObject } from "../../api/machinery/object.ts";
import { formatQuantity, milliQuantityOf, quantityOf } from "../../api/machinery/quantity.ts";
import type { LabelSelector } from "../../api/machinery/selectors/label-selector.ts";
import { formatTime } from "../../api/machinery/time.ts";
import type { MetricSeries } from "./page-sample.ts";
import type { PodMetrics } from "./pod-metrics-source.ts";

/** What a value is about. */
export type DescribedObject = {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly apiVersion: string;
};

/** The sum of all series of a metric, of one Pod or several. */
export interface MetricSum {
  readonly value: number;
  /** Of the oldest sample. */
  readonly atMs: number;
  /** Longest window of the rates among them; 0 without rates. */
  readonly windowMs: number;
}

/** Undefined: none of the Pods has the metric with such labels. */
export function sumOf(pods: readonly PodMetrics[], metric: string, labels: LabelSelector): MetricSum | undefined {
  let sum: MetricSum | undefined;
  for (const { metrics, atMs } of pods) {
    for (const series of metrics.get(metric) ?? []) {
      if (!labels.matches(series.labels)) continue;
      sum = {
        value: (sum?.value ?? 0) + series.value,
        atMs: Math.min(sum?.atMs ?? atMs, atMs),
        windowMs: Math.max(sum?.windowMs ?? 0, series.windowMs ?? 0),
      };
    }
  }
  return sum;
}

/** An item of a MetricValueList. */
export function metricValue(version: string, describedObject: DescribedObject, metric: string, sum: MetricSum): JsonObject {
  const window = sum.windowMs === 0 ? undefined : Math.max(1, Math.round(sum.windowMs / 1_000));
  const rest = { timestamp: formatTime(sum.atMs), value: quantityText(sum.value) };
  if (version === "v1beta1") return { describedObject, metricName: metric, ...rest, ...(window === undefined ? {} : { window }) };
  return { describedObject, metric: { name: metric }, ...rest, ...(window === undefined ? {} : { windowSeconds: window }) };
}

/** An item of an ExternalMetricValueList: one series. */
export function externalMetricValue(metricName: string, { labels, value, windowMs = 0 }: MetricSeries, atMs: number): JsonObject {
  const window = windowMs === 0 ? {} : { window: Math.max(1, Math.round(windowMs / 1_000)) };
  return { metricName, metricLabels: labels, timestamp: formatTime(atMs), ...window, value: quantityText(value) };
}

/** In thousandths, unless that would exceed the integers that a number holds exactly. */
function quantityText(value: number): string {
  const milli = Math.round(value * 1_000);
  return formatQuantity(Number.isSafeInteger(milli) ? milliQuantityOf(milli) : quantityOf(BigInt(Math.round(value))));
}
