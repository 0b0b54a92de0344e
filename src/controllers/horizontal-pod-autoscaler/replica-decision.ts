/**
 * Decides what an autoscaler does: nothing, another number of replicas, or an error to report, with the conditions of its status. The
 * proposals of the metrics, the history and the time are arguments. Pure.
 */
import type { HorizontalPodAutoscaler, HorizontalPodAutoscalerCondition, MetricStatus } from "../../api/generated/autoscaling/v2.ts";
import { withCondition } from "../../api/machinery/conditions.ts";
import type { ProposalResult } from "./metric-proposal.ts";
import { limitReplicas, withRecommendation, type History, type Verdict } from "./scaling-limits.ts";

export type ConditionType = "AbleToScale" | "ScalingActive" | "ScalingLimited";
type Conditions = readonly HorizontalPodAutoscalerCondition[];

export function withVerdict(conditions: Conditions | undefined, type: ConditionType, verdict: Verdict, nowMs: number): Conditions {
  return withCondition<HorizontalPodAutoscalerCondition>(conditions, { type, ...verdict }, nowMs);
}

export interface DecisionInput {
  readonly autoscaler: HorizontalPodAutoscaler;
  readonly conditions: Conditions;
  /** The target's `spec.replicas`. */
  readonly current: number;
  readonly history: History;
  readonly downscaleStabilizationMs: number;
  readonly nowMs: number;
}

export type Decision =
  | {
      readonly is: "decided";
      readonly replicas: number;
      /** Of a change, in its event. */
      readonly reason: string;
      readonly conditions: Conditions;
      readonly history: History;
      readonly metrics: readonly MetricStatus[];
    }
  | { readonly is: "failed"; readonly message: string; readonly conditions: Conditions; readonly metrics: readonly MetricStatus[] };

/** The decision that needs no metrics: scaling is disabled, or the target is out of bounds. Undefined: metrics are needed. */
export function decideWithoutMetrics({ autoscaler, conditions, current, history, nowMs }: DecisionInput): Decision | undefined {
  const { minReplicas = 1, maxReplicas } = autoscaler.spec;
  const decided = { is: "decided", conditions, history, metrics: [], reason: "" } as const;
  if (current === 0 && minReplicas !== 0) {
    const message = "scaling is disabled since the replica count of the target is zero";
    const verdict: Verdict = { status: "False", reason: "ScalingDisabled", message };
    return { ...decided, replicas: 0, conditions: withVerdict(conditions, "ScalingActive", verdict, nowMs) };
  }
  if (current > maxReplicas) return { ...decided, replicas: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
  if (current < minReplicas) return { ...decided, replicas: minReplicas, reason: "Current number of replicas below Spec.MinReplicas" };
  return undefined;
}

/** A metric without a value has an empty status, as upstream's. */
const NO_STATUS: MetricStatus = { type: "" };

/** The highest proposal counts. A metric that fails prevents scaling down, and all of them any scaling. */
export function decideByMetrics(input: DecisionInput, results: readonly ProposalResult[]): Decision {
  const { autoscaler, conditions, current, nowMs } = input;
  const failures = results.flatMap((result) => (result.is === "failed" ? [result.failure] : []));
  const proposals = results.flatMap((result) => (result.is === "proposed" ? [result.proposal] : []));
  const metrics = results.map((result) => (result.is === "proposed" ? result.proposal.status : NO_STATUS));
  const highest = proposals.reduce<(typeof proposals)[number] | undefined>(
    (best, next) => (best === undefined || best.replicas === 0 || next.replicas > best.replicas ? next : best),
    undefined,
  );
  const [failure] = failures;
  if (failure !== undefined && (highest === undefined || highest.replicas < current)) {
    const message = `invalid metrics (${failures.length} invalid out of ${results.length}), first error is: ${failure.context}`;
    const why = `the HPA was unable to compute the replica count: ${failure.message}`;
    const verdict: Verdict = { status: "False", reason: failure.reason, message: why };
    return { is: "failed", message, conditions: withVerdict(conditions, "ScalingActive", verdict, nowMs), metrics };
  }
  const { replicas: proposed = 0, name = "" } = highest ?? {};
  const message = `the HPA was able to successfully calculate a replica count from ${name}`;
  const active = withVerdict(conditions, "ScalingActive", { status: "True", reason: "ValidMetricFound", message }, nowMs);
  const { minReplicas: min = 1, maxReplicas: max, behavior } = autoscaler.spec;
  const limited = limitReplicas(input.history, { ...input, desired: proposed, min, max, behavior });
  const able = withVerdict(active, "AbleToScale", limited.ableToScale, nowMs);
  const reason = proposed > current ? `${name} above target` : proposed < current ? "All metrics below target" : "";
  return {
    is: "decided",
    replicas: limited.replicas,
    reason,
    conditions: withVerdict(able, "ScalingLimited", limited.scalingLimited, nowMs),
    history: withRecommendation(input.history, proposed, nowMs),
    metrics,
  };
}
