/** Metrics of conversion webhooks, with upstream's names, labels and buckets. */
import { Counter, exponentialBounds, Histogram } from "../../base/metrics/metric-series.ts";
import type { MetricFamilies } from "../framework/document.ts";

/** Why a conversion failed: upstream's values of the label `failure_type`. */
export type ConversionFailure =
  | "conversion_webhook_call_failure"
  | "conversion_webhook_malformed_response_failure"
  | "conversion_webhook_partial_response_failure"
  | "conversion_webhook_invalid_converted_object_failure";

export interface ObservedConversion {
  readonly definition: string;
  /** That of the first object. */
  readonly fromVersion: string;
  readonly toVersion: string;
  /** Absent: all objects were converted. */
  readonly failure?: ConversionFailure | undefined;
  readonly durationMs: number;
}

/** Bucket bounds (seconds): conversions time out after 30 s. */
const CALL_BOUNDS_S = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60];

export class ConversionMetrics {
  readonly #definitions = new Histogram({
    name: "apiserver_crd_conversion_webhook_duration_seconds",
    help: "Duration of conversions by webhooks, by definition, versions and success.",
    bounds: exponentialBounds(0.001, 2, 15),
  });
  readonly #requests = new Counter({
    name: "apiserver_conversion_webhook_request_total",
    help: "Calls of conversion webhooks by result and type of failure.",
  });
  readonly #durations = new Histogram({
    name: "apiserver_conversion_webhook_duration_seconds",
    help: "Duration of calls of conversion webhooks by result and type of failure.",
    bounds: CALL_BOUNDS_S,
  });

  observe({ definition, fromVersion, toVersion, failure, durationMs }: ObservedConversion): void {
    const labels = { result: failure === undefined ? "success" : "failure", failure_type: failure ?? "" };
    this.#requests.add(labels);
    this.#durations.observe(labels, durationMs / 1_000);
    const succeeded = String(failure === undefined);
    this.#definitions.observe({ crd_name: definition, from_version: fromVersion, to_version: toVersion, succeeded }, durationMs / 1_000);
  }

  families(): MetricFamilies {
    return [this.#definitions.family(), this.#requests.family(), this.#durations.family()];
  }
}
