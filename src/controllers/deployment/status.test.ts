import assert from "node:assert/strict";
import test from "node:test";
import { isComplete, observedStatus } from "./status.ts";
import { aDeployment, aReplicaSet, aRollout } from "./testing/rollouts.ts";

const NOW_MS = Date.parse("2026-01-01T00:00:00Z");

test("a Deployment's status sums the Pods of all ReplicaSets, and keeps other conditions and collisionCount", () => {
  const kept = { type: "Progressing", status: "True", reason: "ReplicaSetUpdated" };
  const deployment = aDeployment({ replicas: 5, generation: 4, status: { collisionCount: 0, conditions: [kept], observedGeneration: 3 } });
  const old = aReplicaSet("old", { size: 2, replicas: 3, available: 2, status: { terminatingReplicas: 1 } });
  const next = aReplicaSet("new", { size: 4, available: 1, status: { readyReplicas: 2, terminatingReplicas: 2 } });

  assert.deepEqual(observedStatus(aRollout(deployment, old, next), NOW_MS), {
    observedGeneration: 4,
    replicas: 7,
    updatedReplicas: 4,
    readyReplicas: 4,
    availableReplicas: 3,
    unavailableReplicas: 3,
    terminatingReplicas: 3,
    collisionCount: 0,
    conditions: [
      {
        type: "Available",
        status: "False",
        lastUpdateTime: "2026-01-01T00:00:00Z",
        lastTransitionTime: "2026-01-01T00:00:00Z",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      },
      kept,
    ],
  });
});

test("zero counts are omitted, and more available Pods than desired means none unavailable", () => {
  const none = observedStatus(aRollout(aDeployment({ replicas: 0 })), NOW_MS);
  const shrinking = observedStatus(aRollout(aDeployment({ replicas: 1 }), aReplicaSet("new", { size: 1, replicas: 3 })), NOW_MS);

  assert.deepEqual(Object.keys(none), ["terminatingReplicas", "conditions"]);
  assert.equal(none.terminatingReplicas, 0);
  assert.deepEqual([shrinking.availableReplicas, shrinking.unavailableReplicas], [3, undefined]);
});

for (const { it, statuses, terminating } of [
  { it: "a ReplicaSet does not report it", statuses: [{ terminatingReplicas: 1 }, {}], terminating: undefined },
  { it: "a ReplicaSet has not been observed yet", statuses: [{ terminatingReplicas: 1 }, { observedGeneration: 0 }], terminating: 1 },
]) {
  test(`terminatingReplicas is ${terminating ?? "unknown"} if ${it}`, () => {
    const all = statuses.map((status, index) => aReplicaSet(`rs-${index}`, { status }));

    assert.equal(observedStatus(aRollout(aDeployment(), ...all), NOW_MS).terminatingReplicas, terminating);
  });
}

for (const { available, facts, is } of [
  { available: 8, facts: {}, is: "True MinimumReplicasAvailable Deployment has minimum availability." },
  { available: 7, facts: {}, is: "False MinimumReplicasUnavailable Deployment does not have minimum availability." },
  {
    available: 9,
    facts: { strategy: { type: "Recreate" as const } },
    is: "False MinimumReplicasUnavailable Deployment does not have minimum availability.",
  },
]) {
  test(`with ${available} of 10 ${facts.strategy?.type ?? "while two may be missing"}: ${is}`, () => {
    const deployment = aDeployment({ replicas: 10, maxUnavailable: 2, ...facts });

    const { conditions = [] } = observedStatus(aRollout(deployment, aReplicaSet("new", { size: 10, available })), NOW_MS);

    assert.deepEqual(
      conditions.map(({ status, reason, message }) => `${status} ${reason} ${message}`),
      [is],
    );
  });
}

test("a rollout is complete when all desired Pods are new and available, no others exist, and the generation was observed", () => {
  const deployment = aDeployment({ replicas: 2, generation: 3 });
  const complete = { replicas: 2, updatedReplicas: 2, availableReplicas: 2, observedGeneration: 3 };

  assert.equal(isComplete(deployment, complete), true);
  for (const change of [{ replicas: 3 }, { updatedReplicas: 1 }, { availableReplicas: 1 }, { observedGeneration: 2 }]) {
    assert.equal(isComplete(deployment, { ...complete, ...change }), false, JSON.stringify(change));
  }
});
