/**
 * Counters, gauges and histograms of several series each, one for every combination of labels that was counted. Counting is a map lookup and an
 * addition. Labels may come from outside, so there is a limit: of what comes after it nothing is kept. A series ends when whatever it was
 * about ends. How they are written: prometheus-text.ts.
 */
import type { Family, HistogramFamily, Labels } from "./prometheus-text.ts";

/** Per metric. More than a node has containers, and small enough for one scrape. */
const SERIES_MAX = 10_000;

/** Default bucket bounds (seconds) of Prometheus's client libraries. */
export const DEFAULT_BOUNDS_S: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Bucket bounds: `first`, and each `factor` times the one before. */
export function exponentialBounds(first: number, factor: number, count: number): readonly number[] {
  // Without the noise of binary fractions: 0.128, not 0.12800000000000003.
  return Array.from({ length: count }, (_, power) => Number((first * factor ** power).toPrecision(12)));
}

export interface MetricName {
  readonly name: string;
  readonly help: string;
  /** Default: SERIES_MAX. */
  readonly seriesMax?: number;
}

/** By their labels; those of one metric have the same names in the same order. */
class Series<T extends { readonly labels: Labels }> {
  readonly #series = new Map<string, T>();
  readonly #max: number;

  constructor(max = SERIES_MAX) {
    this.#max = max;
  }

  /** Undefined if the limit is reached. */
  of(labels: Labels, make: () => T): T | undefined {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined || this.#series.size >= this.#max) return known;
    const made = make();
    this.#series.set(key, made);
    return made;
  }

  remove(labels: Labels): void {
    this.#series.delete(keyOf(labels));
  }

  all(): readonly T[] {
    return [...this.#series.values()];
  }
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.values(labels));
}

export class Counter {
  readonly #metric: MetricName;
  readonly #series: Series<{ readonly labels: Labels; value: number }>;

  constructor(metric: MetricName) {
    this.#metric = metric;
    this.#series = new Series(metric.seriesMax);
  }

  add(labels: Labels = {}, amount = 1): void {
    const counted = this.#series.of(labels, () => ({ labels, value: 0 }));
    if (counted !== undefined) counted.value += amount;
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  family(): Family {
    const { name, help } = this.#metric;
    return { name, help, type: "counter", samples: this.#series.all() };
  }
}

/** A value that may fall. */
export class Gauge {
  readonly #metric: MetricName;
  readonly #series: Series<{ readonly labels: Labels; value: number }>;

  constructor(metric: MetricName) {
    this.#metric = metric;
    this.#series = new Series(metric.seriesMax);
  }

  set(labels: Labels, value: number): void {
    const known = this.#series.of(labels, () => ({ labels, value }));
    if (known !== undefined) known.value = value;
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  family(): Family {
    const { name, help } = this.#metric;
    return { name, help, type: "gauge", samples: this.#series.all() };
  }
}

interface Observed {
  readonly labels: Labels;
  readonly counts: number[];
  sum: number;
  count: number;
}

export class Histogram {
  readonly #metric: MetricName & { readonly bounds: readonly number[] };
  readonly #series: Series<Observed>;

  /** `bounds`: upper bounds, ascending; values above the last one are counted, too. */
  constructor(metric: MetricName & { readonly bounds: readonly number[] }) {
    this.#metric = metric;
    this.#series = new Series(metric.seriesMax);
  }

  observe(labels: Labels, value: number): void {
    this.#add(this.#of(labels), value);
  }

  /** Observes values of one series without looking it up each time, for hot paths. The series exists from the first value on. */
  observer(labels: Labels): (value: number) => void {
    let observed: Observed | undefined;
    return (value) => this.#add((observed ??= this.#of(labels)), value);
  }

  #of(labels: Labels): Observed | undefined {
    const counts = (): number[] => Array.from({ length: this.#metric.bounds.length + 1 }, () => 0);
    return this.#series.of(labels, () => ({ labels, counts: counts(), sum: 0, count: 0 }));
  }

  #add(observed: Observed | undefined, value: number): void {
    if (observed === undefined) return;
    const { bounds } = this.#metric;
    const found = bounds.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? bounds.length : found;
    observed.counts[bucket] = (observed.counts[bucket] ?? 0) + 1;
    observed.sum += value;
    observed.count++;
  }

  remove(labels: Labels): void {
    this.#series.remove(labels);
  }

  family(): HistogramFamily {
    const { name, help, bounds } = this.#metric;
    return { name, help, type: "histogram", bounds, samples: this.#series.all() };
  }
}
