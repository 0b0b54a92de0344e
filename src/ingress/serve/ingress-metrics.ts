/** Metrics of the ingress controller, by Ingress. Counting is an addition per request; the text is made when it is scraped. */
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import type { ProxyRecord } from "../../host/http/proxy/contract.ts";

/** Seconds. From a local answer to a slow query. */
const BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** For requests that no Ingress matched. */
const NONE = "";

interface IngressStatistics {
  /** By status. */
  readonly requests: Map<number, number>;
  readonly durations: { readonly counts: number[]; sum: number; count: number };
  retries: number;
  cutOff: number;
  sentBytes: number;
}

/** Values at the time of a scrape. */
export interface IngressGauges {
  readonly routes: number;
  readonly endpoints: number;
  readonly ejectedEndpoints: number;
  readonly connections: number;
  readonly requestsInFlight: number;
}

export class IngressMetrics {
  readonly #byIngress = new Map<string, IngressStatistics>();

  /** Hot path. */
  count({ status, durationMs, attempts, isComplete, sentBytes }: ProxyRecord, ingress: string = NONE): void {
    const statistics = this.#of(ingress);
    statistics.requests.set(status, (statistics.requests.get(status) ?? 0) + 1);
    statistics.retries += Math.max(0, attempts - 1);
    statistics.sentBytes += sentBytes;
    if (!isComplete) statistics.cutOff++;
    const seconds = durationMs / 1_000;
    const found = BOUNDS_S.findIndex((bound) => seconds <= bound);
    const bucket = found === -1 ? BOUNDS_S.length : found;
    const { durations } = statistics;
    durations.counts[bucket] = (durations.counts[bucket] ?? 0) + 1;
    durations.sum += seconds;
    durations.count++;
  }

  #of(ingress: string): IngressStatistics {
    let statistics = this.#byIngress.get(ingress);
    if (statistics === undefined) {
      const counts = Array.from({ length: BOUNDS_S.length + 1 }, () => 0);
      statistics = { requests: new Map(), durations: { counts, sum: 0, count: 0 }, retries: 0, cutOff: 0, sentBytes: 0 };
      this.#byIngress.set(ingress, statistics);
    }
    return statistics;
  }

  /** Series of deleted Ingresses end. */
  keepOnly(ingresses: ReadonlySet<string>): void {
    for (const ingress of this.#byIngress.keys()) if (ingress !== NONE && !ingresses.has(ingress)) this.#byIngress.delete(ingress);
  }

  families(gauges: IngressGauges): readonly (Family | HistogramFamily)[] {
    return [
      {
        name: "k8ts_ingress_requests_total",
        help: "Requests by Ingress and status; 499: the client disconnected before the answer",
        type: "counter",
        samples: this.#samples(({ requests }) => [...requests].map(([code, value]) => ({ labels: { code: String(code) }, value }))),
      },
      {
        name: "k8ts_ingress_request_duration_seconds",
        help: "Time from the request's head to the end of its answer",
        type: "histogram",
        bounds: BOUNDS_S,
        samples: [...this.#byIngress].map(([ingress, { durations }]) => ({ labels: { ingress }, ...durations })),
      },
      this.#counter("k8ts_ingress_retries_total", "Attempts after the first", ({ retries }) => retries),
      this.#counter("k8ts_ingress_incomplete_answers_total", "Answers that were cut off", ({ cutOff }) => cutOff),
      this.#counter("k8ts_ingress_sent_bytes_total", "Bytes of answers' bodies", ({ sentBytes }) => sentBytes),
      gauge("k8ts_ingress_routes", "Routes", gauges.routes),
      gauge("k8ts_ingress_endpoints", "Endpoints of all routes", gauges.endpoints),
      gauge("k8ts_ingress_ejected_endpoints", "Endpoints that are not used for a while because they failed", gauges.ejectedEndpoints),
      gauge("k8ts_ingress_connections", "Connections of clients", gauges.connections),
      gauge("k8ts_ingress_requests_in_flight", "Requests under way", gauges.requestsInFlight),
    ];
  }

  #counter(name: string, help: string, value: (statistics: IngressStatistics) => number): Family {
    return { name, help, type: "counter", samples: this.#samples((statistics) => [{ labels: {}, value: value(statistics) }]) };
  }

  #samples(
    of: (statistics: IngressStatistics) => readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[],
  ) {
    return [...this.#byIngress].flatMap(([ingress, statistics]) =>
      of(statistics).map(({ labels, value }) => ({ labels: { ingress, ...labels }, value })),
    );
  }
}

function gauge(name: string, help: string, value: number): Family {
  return { name, help, type: "gauge", samples: [{ labels: {}, value }] };
}
