/** The contract of the server's metrics: what the engine counts, and documents/metrics serves. pipeline/request-metrics.ts implements it. */
import type { Endpoint } from "./endpoints.ts";
import type { ApiRequest } from "./request.ts";

/** Upper bounds in seconds: upstream's for request durations. */
export const DURATION_BUCKETS_S = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;

export interface Histogram {
  /** One more than there are bounds: the last is for everything above. */
  readonly counts: number[];
  sum: number;
  count: number;
}

export interface Metrics {
  /** By verb, group, version, resource, subresource, scope and code, joined with a tab. */
  readonly requests: ReadonlyMap<string, number>;
  /** The same without the code. */
  readonly durations: ReadonlyMap<string, Histogram>;
  /** By group, version and resource. */
  readonly watchEvents: ReadonlyMap<string, number>;
  readonly inFlight: { readOnly: number; mutating: number };
  /** Running watches and connections by verb, group, version, resource and subresource. */
  readonly longRunning: ReadonlyMap<string, number>;
  /** Requests that were rejected because too many were in flight. */
  rejected: number;
  request(request: ApiRequest, code: number, durationMs: number): void;
  watchStarted(endpoint: Endpoint): void;
  watchEnded(endpoint: Endpoint): void;
  watchEvent(endpoint: Endpoint): void;
  connectionStarted(request: ApiRequest): void;
  connectionEnded(request: ApiRequest): void;
}
