/**
 * Metrics of one component, created with the first value: a definition is a constant beside the code that counts. Not here: metrics that are
 * computed when they are read (Family).
 */
import { Counter, Gauge, Histogram, type MetricName } from "./metric-series.ts";
import type { Family, HistogramFamily, Labels } from "./prometheus-text.ts";

export interface CounterDefinition extends MetricName {
  readonly type: "counter";
}

export interface GaugeDefinition extends MetricName {
  readonly type: "gauge";
}

export interface HistogramDefinition extends MetricName {
  readonly type: "histogram";
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
}

export class MetricSet {
  /** By definition; bounded by the constants of the code. */
  readonly #counters = new Map<CounterDefinition, Counter>();
  readonly #gauges = new Map<GaugeDefinition, Gauge>();
  readonly #histograms = new Map<HistogramDefinition, Histogram>();

  count(definition: CounterDefinition, labels: Labels = {}, amount = 1): void {
    this.#of(this.#counters, definition, () => new Counter(definition)).add(labels, amount);
  }

  set(definition: GaugeDefinition, labels: Labels, value: number): void {
    this.#of(this.#gauges, definition, () => new Gauge(definition)).set(labels, value);
  }

  /** Ends the series of a gauge when what it is about ends. */
  remove(definition: GaugeDefinition, labels: Labels): void {
    this.#gauges.get(definition)?.remove(labels);
  }

  observe(definition: HistogramDefinition, labels: Labels, value: number): void {
    this.#of(this.#histograms, definition, () => new Histogram(definition)).observe(labels, value);
  }

  families(): readonly (Family | HistogramFamily)[] {
    const all = [...this.#counters.values(), ...this.#gauges.values(), ...this.#histograms.values()];
    return all.map((metric) => metric.family()).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #of<D, M>(known: Map<D, M>, definition: D, make: () => M): M {
    const metric = known.get(definition) ?? make();
    known.set(definition, metric);
    return metric;
  }
}
