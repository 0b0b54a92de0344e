/**
 * One scrape of a Pod's page, and the metrics between two of them. A counter becomes its rate per second under its name without `_total`,
 * as with the default rules of prometheus-adapter; gauges and untyped metrics are taken as they are; of histograms and summaries the rates
 * of `_sum` and `_count` count, buckets and quantiles do not. Pure.
 */
import { parsePrometheusText, prometheusTypes } from "../../base/metrics/parse-prometheus-text.ts";
import type { Labels } from "../../base/metrics/prometheus-text.ts";

/** One series of one page. */
interface RawSeries {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
  readonly isCumulative: boolean;
}

export interface PageSample {
  readonly atMs: number;
  /** By name and labels. */
  readonly series: ReadonlyMap<string, RawSeries>;
  readonly hasCounters: boolean;
}

/** One series of a metric as it is served. */
export interface MetricSeries {
  readonly labels: Labels;
  readonly value: number;
  /** Of a rate: the time between the two scrapes. */
  readonly windowMs?: number;
}

/** By name of the metric. */
export type PageMetrics = ReadonlyMap<string, readonly MetricSeries[]>;

/** Throws if the page has more series than `seriesMax`: a part of them would be served as if it were the whole. */
export function readPageSample(page: string, { atMs, seriesMax }: { readonly atMs: number; readonly seriesMax: number }): PageSample {
  const types = prometheusTypes(page);
  const series = new Map<string, RawSeries>();
  let hasCounters = false;
  for (const { name, labels, value } of parsePrometheusText(page)) {
    const use = useOf(name, types);
    if (use === "unused" || !Number.isFinite(value)) continue;
    if (series.size >= seriesMax) throw new Error(`the page has more than ${seriesMax} series`);
    hasCounters ||= use === "rate";
    series.set(`${name} ${JSON.stringify(labels)}`, { name, labels, value, isCumulative: use === "rate" });
  }
  return { atMs, series, hasCounters };
}

function useOf(name: string, types: ReadonlyMap<string, string>): "rate" | "value" | "unused" {
  const own = types.get(name);
  if (own === "counter") return "rate";
  // A summary's own name has its quantiles.
  if (own === "summary" || own === "histogram") return "unused";
  if (own !== undefined) return "value";
  const [, family = "", suffix = ""] = /^(.*)_(sum|count|bucket|total)$/.exec(name) ?? [];
  const type = types.get(family);
  // OpenMetrics declares a counter without the suffix of its series.
  if (type === "counter" && suffix === "total") return "rate";
  if (type === "histogram" || type === "summary") return suffix === "bucket" ? "unused" : "rate";
  return "value";
}

/** Without a previous scrape there are no rates. */
export function metricsBetween(before: PageSample | undefined, now: PageSample): PageMetrics {
  const metrics = new Map<string, MetricSeries[]>();
  const windowMs = before === undefined ? 0 : now.atMs - before.atMs;
  for (const [key, { name, labels, value, isCumulative }] of now.series) {
    if (!isCumulative) {
      add(metrics, name, { labels, value });
      continue;
    }
    const previous = before?.series.get(key)?.value;
    if (previous === undefined || windowMs <= 0) continue;
    // A counter that decreased began again at zero: the container was restarted.
    const increase = value < previous ? value : value - previous;
    add(metrics, name.replace(/_total$/, ""), { labels, value: (increase * 1_000) / windowMs, windowMs });
  }
  return metrics;
}

function add(metrics: Map<string, MetricSeries[]>, name: string, series: MetricSeries): void {
  const known = metrics.get(name);
  if (known === undefined) metrics.set(name, [series]);
  else known.push(series);
}
