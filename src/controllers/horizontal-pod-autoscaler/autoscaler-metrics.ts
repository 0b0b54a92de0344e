/** Metrics of the autoscaler, with upstream's names, labels and buckets. */
import type { CounterDefinition, HistogramDefinition } from "../../base/metrics/metric-set.ts";
import { exponentialBounds } from "../../base/metrics/metric-series.ts";
import type { Pass } from "../runtime/controller.ts";
import type { ProposalResult } from "./metric-proposal.ts";

const PREFIX = "horizontal_pod_autoscaler_controller_";
const BOUNDS_S = exponentialBounds(0.001, 2, 15);

const RECONCILIATIONS: CounterDefinition = {
  type: "counter",
  name: `${PREFIX}reconciliations_total`,
  help: "Number of reconciliations of HPA controller, by action (scale_down, scale_up, none) and error (internal, none)",
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

export interface ReconciliationResult {
  readonly current: number;
  readonly desired: number;
  readonly isFailed: boolean;
}

export function recordReconciliation({ current, desired, isFailed }: ReconciliationResult, startedMs: number, pass: Pass): void {
  const labels = { action: actionOf(current, desired), error: isFailed ? "internal" : "none" };
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
  const labels = { action, error: result.is === "failed" ? "internal" : "none", metric_type: type };
  pass.metrics.count(COMPUTATIONS, labels);
  pass.metrics.observe(COMPUTATION_DURATION, labels, (pass.clock.monotonic() - startedMs) / 1_000);
}

function actionOf(current: number, desired: number): string {
  if (desired === current) return "none";
  return desired > current ? "scale_up" : "scale_down";
}
