/**
 * The server's metrics, by upstream's names and labels where they exist. Counting is a map lookup and an addition, so it can be done on
 * every request. Served by documents/metrics.
 */
import type { Endpoint } from "../framework/endpoints.ts";
import { DURATION_BUCKETS_S, type Histogram, type Metrics } from "../framework/metrics.ts";
import type { ApiRequest } from "../framework/request.ts";

/** Maximum number of label combinations; more can only come from client input and would grow without bound. */
const SERIES_MAX = 10_000;

export class RequestMetrics implements Metrics {
  readonly requests = new Map<string, number>();
  readonly durations = new Map<string, Histogram>();
  readonly watchEvents = new Map<string, number>();
  readonly inFlight = { readOnly: 0, mutating: 0 };
  readonly longRunning = new Map<string, number>();
  rejected = 0;
  readonly #watchLabels = new WeakMap<Endpoint, string>();

  request(request: ApiRequest, code: number, durationMs: number): void {
    const labels = labelsOf(request);
    add(this.requests, `${labels}\t${code}`, 1);
    observe(this.durations, labels, durationMs / 1_000);
  }

  watchStarted({ served, resource }: Endpoint): void {
    add(this.longRunning, `WATCH\t${served.group}\t${served.version}\t${resource.plural}\t`, 1);
  }

  watchEnded({ served, resource }: Endpoint): void {
    add(this.longRunning, `WATCH\t${served.group}\t${served.version}\t${resource.plural}\t`, -1);
  }

  connectionStarted({ group, version, plural, subresource }: ApiRequest): void {
    add(this.longRunning, `${CONNECT}\t${group}\t${version}\t${plural}\t${subresource}`, 1);
  }

  connectionEnded({ group, version, plural, subresource }: ApiRequest): void {
    add(this.longRunning, `${CONNECT}\t${group}\t${version}\t${plural}\t${subresource}`, -1);
  }

  /** Hot path (called per watcher and event): a label that is concatenated again each time would have to be hashed again, too. */
  watchEvent(endpoint: Endpoint): void {
    let labels = this.#watchLabels.get(endpoint);
    if (labels === undefined) {
      const { served, resource } = endpoint;
      labels = `${served.group}\t${served.version}\t${resource.plural}`;
      this.#watchLabels.set(endpoint, labels);
    }
    add(this.watchEvents, labels, 1);
  }
}

/** Whatever the method of the connection's request. */
const CONNECT = "CONNECT";

function labelsOf({ verb, group, version, plural, subresource, name, namespace, connection }: ApiRequest): string {
  const scope = name !== "" ? "resource" : namespace !== "" ? "namespace" : "cluster";
  return `${connection === undefined ? verb.toUpperCase() : CONNECT}\t${group}\t${version}\t${plural}\t${subresource}\t${scope}`;
}

function add(series: Map<string, number>, labels: string, amount: number): void {
  const before = series.get(labels);
  if (before === undefined && series.size >= SERIES_MAX) return;
  series.set(labels, (before ?? 0) + amount);
}

function observe(series: Map<string, Histogram>, labels: string, value: number): void {
  let histogram = series.get(labels);
  if (histogram === undefined) {
    if (series.size >= SERIES_MAX) return;
    histogram = { counts: Array.from({ length: DURATION_BUCKETS_S.length + 1 }, () => 0), sum: 0, count: 0 };
    series.set(labels, histogram);
  }
  let bucket = 0;
  while (bucket < DURATION_BUCKETS_S.length && value > (DURATION_BUCKETS_S[bucket] as number)) bucket++;
  histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.sum += value;
  histogram.count++;
}
