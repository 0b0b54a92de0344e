/** Gauges that count objects by labels, kept up to date with every change of an object. */
import type { GaugeDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import type { Labels } from "../../base/metrics/prometheus-text.ts";

/** A series in which an object counts. */
export interface Series {
  readonly definition: GaugeDefinition;
  readonly labels: Labels;
}

export class ObjectCounts {
  /** Series of each object; an entry is removed with it. */
  readonly #objects = new Map<string, readonly string[]>();
  readonly #counts = new Map<string, Series & { count: number }>();

  /** An object without series is removed. */
  set(object: string, series: readonly Series[], metrics: MetricSet): void {
    const before = this.#objects.get(object) ?? [];
    const now = series.map((one) => JSON.stringify([one.definition.name, one.labels]));
    if (now.length === 0) this.#objects.delete(object);
    else this.#objects.set(object, now);
    for (const key of before) if (!now.includes(key)) this.#add(key, -1, metrics);
    for (const [index, key] of now.entries()) {
      if (before.includes(key)) continue;
      if (!this.#counts.has(key)) this.#counts.set(key, { ...(series[index] as Series), count: 0 });
      this.#add(key, 1, metrics);
    }
  }

  #add(key: string, amount: number, metrics: MetricSet): void {
    const known = this.#counts.get(key);
    if (known === undefined) return;
    known.count += amount;
    if (known.count > 0) return metrics.set(known.definition, known.labels, known.count);
    metrics.remove(known.definition, known.labels);
    this.#counts.delete(key);
  }
}
