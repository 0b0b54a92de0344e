import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import type { HorizontalPodAutoscaler } from "../../api/generated/autoscaling/v2.ts";
import type { ProposalResult } from "./metric-proposal.ts";
import { decideByMetrics, decideWithoutMetrics, type Decision, type DecisionInput } from "./replica-decision.ts";

const NOW_MS = Date.UTC(2026, 0, 1);

function inputOf(current: number): DecisionInput {
  const autoscaler: HorizontalPodAutoscaler = {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name: "web", namespace: "default" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "web" }, minReplicas: 2, maxReplicas: 10 },
  };
  const history = { recommendations: [], ups: [], downs: [] };
  return { autoscaler, conditions: [], current, history, downscaleStabilizationMs: 300_000, nowMs: NOW_MS };
}

function proposed(replicas: number, name = "cpu resource"): ProposalResult {
  return { is: "proposed", proposal: { replicas, name, status: { type: "Resource", resource: { name: "cpu", current: {} } } } };
}

const FAILED: ProposalResult = {
  is: "failed",
  failure: { reason: "FailedGetPodsMetric", message: "no", context: "failed to get pods metric value: no" },
};

function shown(decision: Decision | undefined): unknown {
  if (decision === undefined) return undefined;
  const conditions = decision.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  return decision.is === "failed" ? [decision.message, conditions] : [decision.replicas, decision.reason, conditions];
}

test("without metrics: a target of zero is left alone, one out of bounds is brought back", () => {
  deepEqual(shown(decideWithoutMetrics(inputOf(0))), [0, "", ["ScalingActive False ScalingDisabled"]]);
  deepEqual(shown(decideWithoutMetrics(inputOf(11))), [10, "Current number of replicas above Spec.MaxReplicas", []]);
  deepEqual(shown(decideWithoutMetrics(inputOf(1))), [2, "Current number of replicas below Spec.MinReplicas", []]);
  equal(decideWithoutMetrics(inputOf(2)), undefined);
});

const ACTIVE = ["ScalingActive True ValidMetricFound", "AbleToScale True ReadyForNewScale", "ScalingLimited False DesiredWithinRange"];

test("the metric with the most replicas counts", () => {
  deepEqual(shown(decideByMetrics(inputOf(4), [proposed(3), proposed(6, "pods metric rate"), proposed(5)])), [
    6,
    "pods metric rate above target",
    ACTIVE,
  ]);
  deepEqual(shown(decideByMetrics(inputOf(4), [proposed(3), proposed(2)])), [3, "All metrics below target", ACTIVE]);
  deepEqual(shown(decideByMetrics(inputOf(4), [proposed(4)])), [4, "", ACTIVE]);
});

test("a failed metric prevents a scale-down and not a scale-up", () => {
  deepEqual(shown(decideByMetrics(inputOf(4), [FAILED, proposed(6)])), [6, "cpu resource above target", ACTIVE]);
  deepEqual(shown(decideByMetrics(inputOf(4), [FAILED, proposed(2)])), [
    "invalid metrics (1 invalid out of 2), first error is: failed to get pods metric value: no",
    ["ScalingActive False FailedGetPodsMetric"],
  ]);
});
