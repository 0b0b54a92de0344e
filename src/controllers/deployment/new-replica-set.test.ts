import assert from "node:assert/strict";
import test from "node:test";
import { podTemplateHash } from "../../api/apps/v1/pod-template-hash.ts";
import type { DeploymentSpec } from "../../api/generated/apps/v1.ts";
import { newReplicaSetFor, refreshed, replicaSetName } from "./new-replica-set.ts";
import { aDeployment, aReplicaSet, aRollout, aTemplate, type DeploymentFacts } from "./testing/rollouts.ts";

function newOne(facts: DeploymentFacts, ...old: readonly ReturnType<typeof aReplicaSet>[]) {
  const deployment = aDeployment(facts);
  return newReplicaSetFor(aRollout(deployment, ...old), deployment.spec as DeploymentSpec);
}

test("a Deployment creates a ReplicaSet of its template, identified by the template hash", () => {
  const hash = podTemplateHash(aTemplate());
  const labels = { app: "web", "pod-template-hash": hash };
  const matchExpressions = [{ key: "app", operator: "Exists" }];

  const made = newOne({
    replicas: 4,
    minReadySeconds: 7,
    annotations: { a: "b" },
    selector: { matchLabels: { app: "web" }, matchExpressions },
  });

  assert.deepEqual(made, {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata: {
      name: `web-${hash}`,
      namespace: "default",
      labels,
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "web", uid: "", controller: true, blockOwnerDeletion: true }],
      annotations: {
        a: "b",
        "deployment.kubernetes.io/revision": "1",
        "deployment.kubernetes.io/desired-replicas": "4",
        "deployment.kubernetes.io/max-replicas": "5",
      },
    },
    spec: {
      replicas: 4,
      minReadySeconds: 7,
      selector: { matchLabels: labels, matchExpressions },
      template: { ...aTemplate(), metadata: { labels } },
    },
  });
});

for (const { it, facts, replicas } of [
  { it: "maxSurge allows beside the old ones", facts: { replicas: 4, maxSurge: 2 }, replicas: 1 },
  { it: "are desired with the strategy Recreate", facts: { replicas: 4, strategy: { type: "Recreate" as const } }, replicas: 4 },
]) {
  test(`a new ReplicaSet starts with as many replicas as ${it}`, () => {
    assert.equal(newOne(facts, aReplicaSet("old", { size: 5 })).spec?.replicas, replicas);
  });
}

test("a colliding name is not used again", () => {
  assert.notEqual(newOne({ status: { collisionCount: 1 } }).metadata.name, newOne({}).metadata.name);
});

test("a long name is truncated so that the hash fits", () => {
  const name = replicaSetName("x".repeat(253), "abc");

  assert.equal(name.length, 253);
  assert.ok(name.endsWith("x-abc"));
  assert.equal(replicaSetName("web", "abc"), "web-abc");
});

test("an up-to-date ReplicaSet is unchanged, and an outdated one is updated", () => {
  const rollout = aRollout(aDeployment({ annotations: { a: "b" }, minReadySeconds: 5 }), aReplicaSet("old", { revision: 1 }));
  const stale = aReplicaSet("new", { revision: 1, size: 2 });

  const reported = refreshed(rollout, stale);

  assert.equal(refreshed(rollout, reported), reported);
  assert.deepEqual(reported.metadata.annotations, {
    a: "b",
    "deployment.kubernetes.io/revision": "2",
    "deployment.kubernetes.io/revision-history": "1",
  });
  assert.deepEqual([reported.spec?.minReadySeconds, reported.spec?.replicas], [5, 2]);
});
