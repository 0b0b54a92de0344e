/**
 * Prometheus metrics of a separate component (controller manager, scheduler): GET /metrics. Plain HTTP without authentication, so only on
 * loopback. In `k8ts up` the API server's authenticated /metrics has the same content.
 */
import { PROMETHEUS_TYPE, prometheusText, type Family, type HistogramFamily } from "../../base/metrics/prometheus-text.ts";
import { isLoopback } from "../../config/api-server-config.ts";
import { processFamilies } from "../../host/processes/process-metrics.ts";
import type { FlagSet } from "../../cli/framework/flags.ts";
import { healthPages, parseHttpAddress, startHttpPages, type HttpAddress, type HttpPages, type Pages } from "./http-pages.ts";

const EXPECTED = "a loopback address such as 127.0.0.1:10257";

export const metricsFlags = {
  "metrics-address": {
    type: "string",
    placeholder: "HOST:PORT",
    doc: "Loopback address to serve Prometheus metrics (/metrics, /metrics/slis) and health checks (/healthz, /livez, /readyz) on, without TLS. Default: disabled.",
    expects: (text: string) => (loopbackAddress(text) === undefined ? EXPECTED : undefined),
  },
} as const satisfies FlagSet;

/** Undefined if it is invalid or reachable from other machines. */
export function loopbackAddress(text: string): HttpAddress | undefined {
  const address = parseHttpAddress(text);
  return address !== undefined && (address.host === "localhost" || isLoopback(address.host)) ? address : undefined;
}

export interface MetricsPagesOptions extends HttpAddress {
  /** Evaluated at every request, like `isLeading`. */
  metrics(): readonly (Family | HistogramFamily)[];
  /** Absent: no leader election. */
  readonly election?: { readonly name: string; isLeading(): boolean } | undefined;
  /** Additional pages. */
  readonly more?: Pages | undefined;
}

export function startMetricsPages({ metrics, election, more = {}, ...address }: MetricsPagesOptions): Promise<HttpPages> {
  const text = () => prometheusText([...metrics(), ...processFamilies(), ...(election === undefined ? [] : [masterStatus(election)])]);
  return startHttpPages(address, { "/metrics": { type: PROMETHEUS_TYPE, text }, ...healthPages(), ...more });
}

/** Upstream's name. */
function masterStatus({ name, isLeading }: NonNullable<MetricsPagesOptions["election"]>): Family {
  return {
    name: "leader_election_master_status",
    type: "gauge",
    help: "Whether this process is the leader (1) or on standby (0), by name of the Lease",
    samples: [{ labels: { name }, value: isLeading() ? 1 : 0 }],
  };
}
