import assert from "node:assert/strict";
import test from "node:test";
import { askedRevision, planRollback } from "./rollback.ts";
import { aDeployment, aReplicaSet, aRollout } from "./testing/rollouts.ts";

const ASKS = "deprecated.deployment.rollback.to";
const REVISION = "deployment.kubernetes.io/revision";
const ALL = [
  aReplicaSet("a", { revision: 1, annotations: { why: "start" } }),
  aReplicaSet("b", { revision: 2, annotations: { why: "logo" } }),
  aReplicaSet("new", { revision: 3, image: "app:3" }),
];

for (const { it, asked, all = ALL, image, annotations, event } of [
  {
    it: "a revision restores its template and annotations",
    asked: 1n,
    image: "a",
    annotations: { [REVISION]: "3", why: "start" },
    event: 'Normal DeploymentRollback Rolled back deployment "web" to revision 1',
  },
  {
    it: "revision 0 restores the previous revision",
    asked: 0n,
    image: "b",
    annotations: { [REVISION]: "3", why: "logo" },
    event: 'Normal DeploymentRollback Rolled back deployment "web" to revision 2',
  },
  {
    it: "revision 0 changes nothing without a previous revision",
    asked: 0n,
    all: ALL.slice(2),
    image: "app:3",
    annotations: { [REVISION]: "3", why: "now" },
    event: "Warning DeploymentRollbackRevisionNotFound Unable to find last revision.",
  },
  {
    it: "a missing revision changes nothing",
    asked: 9n,
    image: "app:3",
    annotations: { [REVISION]: "3", why: "now" },
    event: "Warning DeploymentRollbackRevisionNotFound Unable to find the revision to rollback to.",
  },
  {
    it: "the current revision changes nothing",
    asked: 3n,
    image: "app:3",
    annotations: { [REVISION]: "3", why: "now" },
    event: 'Warning DeploymentRollbackTemplateUnchanged The rollback revision contains the same template as current deployment "web"',
  },
]) {
  test(`rolling back to ${it}`, () => {
    const deployment = aDeployment({ image: "app:3", annotations: { [ASKS]: `${asked}`, [REVISION]: "3", why: "now" } });

    const plan = planRollback(aRollout(deployment, ...all), asked);

    assert.equal(plan.deployment.spec?.template.spec?.containers[0]?.image, image);
    assert.deepEqual(plan.deployment.metadata.annotations, annotations);
    assert.equal(`${plan.event.type} ${plan.event.reason} ${plan.event.message}`, event);
  });
}

for (const [text, revision] of [
  ["4", 4n],
  ["0", 0n],
  ["", undefined],
  ["four", undefined],
] as const) {
  test(`"${text}" requests ${revision === undefined ? "nothing" : `revision ${revision}`}`, () => {
    assert.equal(askedRevision(aDeployment({ annotations: { [ASKS]: text } })), revision);
  });
}
