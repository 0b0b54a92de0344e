/** Metrics of the service proxy, with the names and bucket bounds of upstream's kube-proxy. */
import { Counter, Histogram } from "../../base/metrics/metric-series.ts";
import type { Family, HistogramFamily } from "../../base/metrics/prometheus-text.ts";

/** 1 ms to 16 s, doubling. */
const SYNC_BOUNDS_S = Array.from({ length: 15 }, (_, index) => 0.001 * 2 ** index);

/** 0.25 to 300 s. */
const PROGRAMMING_BOUNDS_S = [0.25, 0.5, ...steps(1, 1, 59), ...steps(60, 5, 12), ...steps(120, 30, 7)];

function steps(start: number, width: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => start + index * width);
}

export class ProxyMetrics {
  readonly #sync = new Histogram({
    name: "kubeproxy_sync_proxy_rules_duration_seconds",
    help: "SyncProxyRules latency in seconds",
    bounds: SYNC_BOUNDS_S,
  });
  readonly #programming = new Histogram({
    name: "kubeproxy_network_programming_duration_seconds",
    help: "In Cluster Network Programming Latency in seconds",
    bounds: PROGRAMMING_BOUNDS_S,
  });
  readonly #failures = new Counter({
    name: "kubeproxy_sync_proxy_rules_iptables_restore_failures_total",
    help: "Cumulative proxy iptables restore failures",
  });
  readonly #serviceChanges = new Counter({
    name: "kubeproxy_sync_proxy_rules_service_changes_total",
    help: "Cumulative proxy rules Service changes",
  });
  readonly #endpointChanges = new Counter({
    name: "kubeproxy_sync_proxy_rules_endpoint_changes_total",
    help: "Cumulative proxy rules Endpoint changes",
  });
  readonly #repairs = new Counter({
    name: "k8ts_proxy_repairs_total",
    help: "Times that rules were missing and all of them were written again",
  });
  readonly #written = new Counter({ name: "k8ts_proxy_written_total", help: "Rules or elements written to the kernel" });
  #queuedAtMs = 0;
  #syncedAtMs = 0;
  #pending = { services: 0, slices: 0 };

  queued(nowMs: number): void {
    this.#queuedAtMs = nowMs;
  }

  /** Called before a sync with the changes that it applies. */
  pending({ services, slices }: { readonly services: number; readonly slices: number }): void {
    this.#pending = { services, slices };
    this.#serviceChanges.add({}, services);
    this.#endpointChanges.add({}, slices);
  }

  synced({ nowMs, durationMs, written }: { readonly nowMs: number; readonly durationMs: number; readonly written: number }): void {
    this.#syncedAtMs = nowMs;
    this.#pending = { services: 0, slices: 0 };
    this.#sync.observe({}, durationMs / 1_000);
    this.#written.add({}, written);
  }

  /** From the change of a Pod or Service to its rules in the kernel. */
  programmed(durationMs: number): void {
    this.#programming.observe({}, Math.max(0, durationMs) / 1_000);
  }

  failed(): void {
    this.#failures.add();
  }

  repaired(): void {
    this.#repairs.add();
  }

  families(): readonly (Family | HistogramFamily)[] {
    const gauge = (name: string, help: string, value: number): Family => ({ name, help, type: "gauge", samples: [{ labels: {}, value }] });
    const { services, slices } = this.#pending;
    return [
      ...[this.#sync, this.#programming, this.#failures, this.#serviceChanges, this.#endpointChanges].map((metric) => metric.family()),
      gauge(
        "kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds",
        "The last time a sync of proxy rules was queued",
        this.#queuedAtMs / 1_000,
      ),
      gauge(
        "kubeproxy_sync_proxy_rules_last_timestamp_seconds",
        "The last time proxy rules were successfully synced",
        this.#syncedAtMs / 1_000,
      ),
      gauge("kubeproxy_sync_proxy_rules_service_changes_pending", "Pending proxy rules Service changes", services),
      gauge("kubeproxy_sync_proxy_rules_endpoint_changes_pending", "Pending proxy rules Endpoint changes", slices),
      this.#repairs.family(),
      this.#written.family(),
    ];
  }
}
