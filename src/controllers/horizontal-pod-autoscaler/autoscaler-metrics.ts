/** Metrics of the autoscaler, with upstream's names, labels and buckets. */
import type { CounterDefinition, GaugeDefinition, HistogramDefinition, MetricSet } from "../../base/metrics/metric-set.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { Pass, WorkKey } from "../runtime/controller.ts";
import type { ProposalResult } from "./metric-proposal.ts";

const PREFIX = "horizontal_pod_autoscaler_controller_";
const BOUNDS_S = exponentialBounds(0.001, 2, 15);

const RECONCILIATIONS: CounterDefinition = {
  type: "counter",
  name: `${PREFIX}reconciliations_total`,
  help: "Number of reconciliations of HPA controller, by action (scale_down, scale_up, none) and error (spec, internal, none)",
};
const RECONCILIATION_DURATION: HistogramDefinition = {
  type: "histogram",
  name: `${PREFIX}reconciliation_duration_seconds`,
  help: "The time(seconds) that the HPA controller takes to reconcile once, by action and error",
  bounds: BOUNDS_S,
};
const COMPUTATIONS: CounterDefinition = {
  type: "counter",
  name: `${PREFIX}metric_computation_total`,
  help: "Number of metric computations, by action, error and type of the metric",
};
const COMPUTATION_DURATION: HistogramDefinition = {
  type: "histogram",
  name: `${PREFIX}metric_computation_duration_seconds`,
  help: "The time(seconds) that the HPA controller takes to calculate one metric, by action, error and type of the metric",
  bounds: BOUNDS_S,
};

const AUTOSCALERS: GaugeDefinition = {
  type: "gauge",
  name: `${PREFIX}num_horizontal_pod_autoscalers`,
  help: "Current number of controlled HPA objects.",
};
const DESIRED: GaugeDefinition = {
  type: "gauge",
  name: `${PREFIX}desired_replicas`,
  help: "Current desired replica count for HPA objects.",
};

/** "spec": the object itself is invalid; "internal": a computation, or the communication with another component, failed. */
export type ErrorLabel = "none" | "internal" | "spec";

export interface ReconciliationResult {
  readonly current: number;
  readonly desired: number;
  readonly error: ErrorLabel;
}

export function recordReconciliation({ current, desired, error }: ReconciliationResult, startedMs: number, pass: Pass): void {
  const labels = { action: actionOf(current, desired), error };
  pass.metrics.count(RECONCILIATIONS, labels);
  pass.metrics.observe(RECONCILIATION_DURATION, labels, (pass.clock.monotonic() - startedMs) / 1_000);
}

export interface Computation {
  /** Of the metric: "Resource". */
  readonly type: string;
  readonly current: number;
  readonly startedMs: number;
}

export function recordComputation(result: ProposalResult, { type, current, startedMs }: Computation, pass: Pass): void {
  const action = result.is === "proposed" ? actionOf(current, result.proposal.replicas) : "none";
  const labels = { action, error: errorOf(result), metric_type: type };
  pass.metrics.count(COMPUTATIONS, labels);
  pass.metrics.observe(COMPUTATION_DURATION, labels, (pass.clock.monotonic() - startedMs) / 1_000);
}

function errorOf(result: ProposalResult): ErrorLabel {
  if (result.is !== "failed") return "none";
  return result.failure.reason === "InvalidMetricSourceType" ? "spec" : "internal";
}

export function recordAutoscalers(count: number, metrics: MetricSet): void {
  metrics.set(AUTOSCALERS, {}, count);
}

/** Undefined: it does not exist any more. */
export function recordDesired({ namespace = "", name }: WorkKey, replicas: number | undefined, metrics: MetricSet): void {
  const labels = { namespace, hpa_name: name };
  if (replicas === undefined) metrics.remove(DESIRED, labels);
  else metrics.set(DESIRED, labels, replicas);
}

function actionOf(current: number, desired: number): string {
  if (desired === current) return "none";
  return desired > current ? "scale_up" : "scale_down";
}
