/** Metrics of the availability of APIServices, with upstream's names. */
import type { Family } from "../../base/metrics/prometheus-text.ts";
import type { Availability } from "./api-service.ts";

/** Series of the counter: an APIService has few reasons, and there are as many APIServices as groups. */
const SERIES_MAX = 10_000;

export class AvailabilityMetrics {
  readonly #available = new Map<string, boolean>();
  /** Transitions to unavailable by APIService and reason. */
  readonly #transitions = new Map<string, { readonly name: string; readonly reason: string; count: number }>();

  present(name: string, isAvailable: boolean): void {
    this.#available.set(name, isAvailable);
  }

  removed(name: string): void {
    this.#available.delete(name);
  }

  changed(name: string, { status, reason }: Availability): void {
    if (status === "True") return;
    const key = `${name}\t${reason}`;
    const series = this.#transitions.get(key) ?? { name, reason, count: 0 };
    series.count++;
    if (this.#transitions.has(key) || this.#transitions.size < SERIES_MAX) this.#transitions.set(key, series);
  }

  families(): readonly Family[] {
    return [
      {
        name: "aggregator_unavailable_apiservice",
        help: "Whether an APIService is unavailable",
        type: "gauge",
        samples: Array.from(this.#available, ([name, isAvailable]) => ({ labels: { name }, value: isAvailable ? 0 : 1 })),
      },
      {
        name: "aggregator_unavailable_apiservice_total",
        help: "Number of transitions of an APIService to unavailable, by reason",
        type: "counter",
        samples: Array.from(this.#transitions.values(), ({ name, reason, count }) => ({ labels: { name, reason }, value: count })),
      },
    ];
  }
}
