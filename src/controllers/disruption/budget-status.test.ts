import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus } from "../../api/generated/policy/v1.ts";
import { budgetStatus, countPods, disruptedOf, failedStatus } from "./budget-status.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NOW = "2026-01-01T00:10:00Z";
const NOW_MS = Date.parse(NOW);
const NONE = { pods: {}, overdue: [], nextMs: undefined };

function aBudget(spec: PodDisruptionBudgetSpec, status?: PodDisruptionBudgetStatus): PodDisruptionBudget {
  const metadata = { name: "b", generation: 3 };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata, spec, ...(status === undefined ? {} : { status }) };
}

function aPod(name: string, { ready = true, going = false } = {}): Pod {
  const metadata = { name, ...(going ? { deletionTimestamp: NOW } : {}) };
  return buildPod({ metadata, status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] } });
}

const FIVE = ["a", "b", "c", "d", "e"].map((name) => aPod(name));

for (const { spec, scale, expected, desired } of [
  { spec: { minAvailable: 3 }, scale: 9, expected: 5, desired: 3 },
  { spec: { minAvailable: "50%" }, scale: 5, expected: 5, desired: 3 },
  { spec: { minAvailable: "50%" }, scale: 10, expected: 10, desired: 5 },
  { spec: { maxUnavailable: 2 }, scale: 5, expected: 5, desired: 3 },
  { spec: { maxUnavailable: 9 }, scale: 5, expected: 5, desired: 0 },
  { spec: { maxUnavailable: "34%" }, scale: 3, expected: 3, desired: 1 },
  { spec: { maxUnavailable: "0%" }, scale: 3, expected: 3, desired: 3 },
  { spec: {}, scale: 5, expected: 0, desired: 0 },
]) {
  test(`for a scale of ${scale} a budget of ${JSON.stringify(spec)} expects ${expected} Pods and requires ${desired} healthy`, () => {
    const counts = { expectedPods: expected, currentHealthy: 5, desiredHealthy: desired };
    deepEqual(countPods(aBudget(spec), FIVE, scale, NONE), counts);
  });
}

test("a Pod that is not ready, terminating or being evicted is not healthy", () => {
  const pods = [aPod("well"), aPod("sick", { ready: false }), aPod("going", { going: true }), aPod("evicted")];
  const counts = countPods(aBudget({ minAvailable: 1 }), pods, 0, { ...NONE, pods: { evicted: NOW } });
  deepEqual(counts, { expectedPods: 4, currentHealthy: 1, desiredHealthy: 1 });
});

test("a disrupted Pod is dropped when it is terminating or deleted, and after two minutes", () => {
  const disruptedPods = {
    new: "2026-01-01T00:09:30Z",
    newer: "2026-01-01T00:09:50Z",
    old: "2026-01-01T00:08:00Z",
    going: "2026-01-01T00:09:00Z",
    gone: "2026-01-01T00:09:00Z",
  };
  const old = aPod("old");
  const pods = [aPod("newer"), aPod("new"), old, aPod("going", { going: true }), aPod("other")];

  deepEqual(disruptedOf(aBudget({}, { disruptedPods }), pods, NOW_MS), {
    pods: { new: disruptedPods.new, newer: disruptedPods.newer },
    overdue: [old],
    nextMs: Date.parse("2026-01-01T00:11:30Z"),
  });
});

test("a Pod may be named like a member of Object.prototype", () => {
  deepEqual(disruptedOf(aBudget({}, { disruptedPods: {} }), [aPod("constructor")], NOW_MS), NONE);
});

for (const { counts, allowed, word } of [
  { counts: { expectedPods: 5, currentHealthy: 5, desiredHealthy: 3 }, allowed: 2, word: { status: "True", reason: "SufficientPods" } },
  { counts: { expectedPods: 5, currentHealthy: 3, desiredHealthy: 3 }, allowed: 0, word: { status: "False", reason: "InsufficientPods" } },
  { counts: { expectedPods: 5, currentHealthy: 1, desiredHealthy: 3 }, allowed: 0, word: { status: "False", reason: "InsufficientPods" } },
  { counts: { expectedPods: 0, currentHealthy: 5, desiredHealthy: 0 }, allowed: 0, word: { status: "False", reason: "InsufficientPods" } },
]) {
  test(`with ${JSON.stringify(counts)} ${allowed} disruptions are allowed`, () => {
    deepEqual(budgetStatus(aBudget({}), counts, NONE, NOW_MS), {
      observedGeneration: 3,
      disruptionsAllowed: allowed,
      ...counts,
      conditions: [{ type: "DisruptionAllowed", ...word, message: "", observedGeneration: 3, lastTransitionTime: NOW }],
    });
  });
}

test("a budget that cannot be computed allows nothing, reports why, and keeps its other counts", () => {
  const status = { observedGeneration: 2, disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2, expectedPods: 3 };
  deepEqual(failedStatus(aBudget({}, status), "because", NOW_MS), {
    ...status,
    disruptionsAllowed: 0,
    conditions: [
      {
        type: "DisruptionAllowed",
        status: "False",
        reason: "SyncFailed",
        message: "because",
        observedGeneration: 2,
        lastTransitionTime: NOW,
      },
    ],
  });
});
