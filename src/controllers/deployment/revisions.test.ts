import assert from "node:assert/strict";
import test from "node:test";
import { newReplicaSetAnnotations, nextRevision, previousRevision } from "./revisions.ts";
import { aDeployment, aReplicaSet } from "./testing/rollouts.ts";

const REVISION = "deployment.kubernetes.io/revision";
const HISTORY = "deployment.kubernetes.io/revision-history";

const someOf = (...revisions: readonly (bigint | number | string)[]) =>
  revisions.map((revision, index) => aReplicaSet(`rs-${index}`, { revision }));

for (const { has, next, previous } of [
  { has: [], next: 1n, previous: undefined },
  { has: [1], next: 2n, previous: undefined },
  { has: [3, 1, 2], next: 4n, previous: 2n },
  { has: [2, 2], next: 3n, previous: 2n },
  { has: ["x", 1, 4, ""], next: 5n, previous: 1n },
  { has: [3546343826724305832n], next: 3546343826724305833n, previous: undefined },
  { has: ["99999999999999999999", 1], next: 2n, previous: undefined },
]) {
  test(`after revisions [${has.join(", ")}] comes ${next}, and a rollback goes to ${previous}`, () => {
    assert.equal(nextRevision(someOf(...has)), next);
    assert.equal(previousRevision(someOf(...has)), previous);
  });
}

const LONG_HISTORY = Array.from({ length: 400 }, () => "1000").join(",");

for (const { it, deployment = {}, has, becomes } of [
  { it: "gets the revision", has: {}, becomes: { [REVISION]: "5" } },
  { it: "keeps a higher revision", has: { [REVISION]: "7" }, becomes: { [REVISION]: "7" } },
  { it: "keeps a malformed revision and is not changed", deployment: { a: "b" }, has: { [REVISION]: "x" }, becomes: { [REVISION]: "x" } },
  { it: "records the previous revision", has: { [REVISION]: "2" }, becomes: { [REVISION]: "5", [HISTORY]: "2" } },
  { it: "records all previous revisions", has: { [REVISION]: "3", [HISTORY]: "1,2" }, becomes: { [REVISION]: "5", [HISTORY]: "1,2,3" } },
  {
    it: "drops the first entries of a long history",
    has: { [REVISION]: "3", [HISTORY]: LONG_HISTORY },
    becomes: { [REVISION]: "5", [HISTORY]: `${LONG_HISTORY.slice("1000,".length)},3` },
  },
  {
    it: "gets the Deployment's annotations except those of the Deployment alone",
    deployment: {
      "kubernetes.io/change-cause": "new logo",
      "kubectl.kubernetes.io/last-applied-configuration": "{}",
      [REVISION]: "4",
      [HISTORY]: "1",
      "deployment.kubernetes.io/desired-replicas": "1",
      "deployment.kubernetes.io/max-replicas": "1",
      "deprecated.deployment.rollback.to": "3",
    },
    has: { "kubernetes.io/change-cause": "start", other: "stays" },
    becomes: { "kubernetes.io/change-cause": "new logo", other: "stays", [REVISION]: "5" },
  },
]) {
  test(`a new ReplicaSet ${it}`, () => {
    const annotations = newReplicaSetAnnotations(aDeployment({ annotations: deployment }), aReplicaSet("new", { annotations: has }), 5n);

    assert.deepEqual(annotations, becomes);
  });
}
