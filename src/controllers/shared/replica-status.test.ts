import { test } from "node:test";
import { deepEqual, equal } from "node:assert/strict";
import type { Pod, PodCondition } from "../../api/generated/core/v1.ts";
import { isSameStatus, nextAvailableInMs, replicaStatus, type ReplicasSeen } from "./replica-status.ts";
import { buildPod } from "../../api/testing/pod.ts";

const NOON_MS = Date.UTC(2026, 0, 1, 12);
const NOON = "2026-01-01T12:00:00Z";
const EARLIER = "2026-01-01T11:00:00Z";

/** `ready`: since when. */
function aPod({ labels = {}, ready }: { readonly labels?: Readonly<Record<string, string>>; readonly ready?: string } = {}): Pod {
  const conditions: readonly PodCondition[] = ready === undefined ? [] : [{ type: "Ready", status: "True", lastTransitionTime: ready }];
  return buildPod({ metadata: { labels }, status: { conditions } });
}

function seen(parts: Partial<ReplicasSeen>): ReplicasSeen {
  return {
    active: [],
    terminating: undefined,
    templateLabels: undefined,
    availability: { minReadySeconds: 0, nowMs: NOON_MS },
    generation: 1,
    failure: undefined,
    ...parts,
  };
}

test("zero counts are omitted, except replicas and terminatingReplicas", () => {
  deepEqual(replicaStatus(seen({ terminating: 0 }), undefined), { replicas: 0, observedGeneration: 1, terminatingReplicas: 0 });
  deepEqual(replicaStatus(seen({}), undefined), { replicas: 0, observedGeneration: 1 });
});

test("fully labeled, ready and available Pods are counted", () => {
  const labels = { app: "web", tier: "front" };
  const active = [
    aPod({ labels: { ...labels, more: "x" }, ready: EARLIER }),
    aPod({ labels, ready: NOON }),
    aPod({ labels: { app: "web" } }),
  ];

  const status = replicaStatus(
    seen({ active, terminating: 2, templateLabels: labels, availability: { minReadySeconds: 10, nowMs: NOON_MS } }),
    undefined,
  );

  deepEqual(status, {
    replicas: 3,
    fullyLabeledReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 1,
    observedGeneration: 1,
    terminatingReplicas: 2,
  });
});

const FAILURE = { reason: "FailedCreate", message: "no" } as const;
const FAILED = { type: "ReplicaFailure", status: "True", lastTransitionTime: NOON, ...FAILURE };
const OTHER = { type: "Other", status: "True" };

for (const { it, failure, before, after } of [
  { it: "a failure becomes a condition, after those of others", failure: FAILURE, before: [OTHER], after: [OTHER, FAILED] },
  {
    it: "a second failure keeps the condition of the first",
    failure: { reason: "FailedDelete", message: "another" } as const,
    before: [FAILED, OTHER],
    after: [FAILED, OTHER],
  },
  { it: "a successful pass removes the condition and keeps the others", failure: undefined, before: [FAILED, OTHER], after: [OTHER] },
  { it: "an empty list of conditions is omitted", failure: undefined, before: [FAILED], after: undefined },
]) {
  test(it, () => {
    deepEqual(replicaStatus(seen({ failure }), { replicas: 0, conditions: before }).conditions, after);
  });
}

for (const { it, previous, same } of [
  { it: "zeros that are left out or written", previous: { replicas: 1, readyReplicas: 0, terminatingReplicas: 0 }, same: true },
  { it: "an empty list of conditions and none", previous: { replicas: 1, terminatingReplicas: 0, conditions: [] }, same: true },
  { it: "another count", previous: { replicas: 1, readyReplicas: 1, terminatingReplicas: 0 }, same: false },
  { it: "no terminating Pods and an absent count", previous: { replicas: 1 }, same: false },
  { it: "another observed generation", previous: { replicas: 1, observedGeneration: 1, terminatingReplicas: 0 }, same: false },
  { it: "an additional condition", previous: { replicas: 1, terminatingReplicas: 0, conditions: [OTHER] }, same: false },
]) {
  test(`${it}: ${same ? "the same status" : "another status"}`, () => {
    equal(isSameStatus({ replicas: 1, terminatingReplicas: 0 }, previous), same);
  });
}

for (const { it, active, minReadySeconds, nextMs } of [
  { it: "nothing is pending", active: [aPod({ ready: NOON })], minReadySeconds: 0, nextMs: undefined },
  { it: "none is ready", active: [aPod()], minReadySeconds: 10, nextMs: undefined },
  { it: "all are available", active: [aPod({ ready: EARLIER })], minReadySeconds: 10, nextMs: undefined },
  {
    it: "two become available, the earlier one counts",
    active: [aPod({ ready: NOON }), aPod({ ready: "2026-01-01T11:59:55Z" }), aPod({ ready: EARLIER })],
    minReadySeconds: 10,
    nextMs: 5000,
  },
]) {
  test(`the next Pod is available ${nextMs === undefined ? "never" : `in ${nextMs} ms`} if ${it}`, () => {
    equal(nextAvailableInMs(active, { minReadySeconds, nowMs: NOON_MS }), nextMs);
  });
}
