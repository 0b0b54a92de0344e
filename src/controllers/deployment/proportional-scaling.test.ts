import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { isScaled, planScaling } from "./proportional-scaling.ts";
import { aDeployment, aReplicaSet, aRollout, type DeploymentFacts, type ReplicaSetFacts } from "./testing/rollouts.ts";

interface Row {
  readonly it: string;
  readonly wants: DeploymentFacts;
  readonly has: Readonly<Record<string, ReplicaSetFacts>>;
  readonly steps: readonly string[];
}

const ROWS: readonly Row[] = [
  { it: "does nothing without ReplicaSets", wants: {}, has: {}, steps: [] },
  {
    it: "sets the only ReplicaSet to the desired replicas",
    wants: { replicas: 5 },
    has: { old: { size: 3, desired: 3 } },
    steps: ["old to 5"],
  },
  {
    it: "keeps the only ReplicaSet if it has the desired replicas",
    wants: { replicas: 5 },
    has: { new: { size: 5, desired: 5 } },
    steps: [],
  },
  {
    it: "updates the annotation of the only one even if its size is right",
    wants: { replicas: 5 },
    has: { new: { size: 5, desired: 3 } },
    steps: ["new to 5"],
  },
  { it: "chooses the new ReplicaSet if none has Pods", wants: { replicas: 2 }, has: { old: {}, new: {} }, steps: ["new to 2"] },
  {
    it: "chooses the latest ReplicaSet if no new one exists",
    wants: { replicas: 2 },
    has: { old: {}, later: {} },
    steps: ["later to 2"],
  },
  {
    it: "scales old ReplicaSets to 0 if the new one has all desired replicas",
    wants: { replicas: 5 },
    has: { old: { size: 2 }, new: { size: 5, desired: 5 } },
    steps: ["old to 0"],
  },
  {
    it: "from 10 to 30 in the middle of an update keeps the proportion",
    wants: { replicas: 30, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 8, max: 13, desired: 10 }, new: { size: 5, available: 0, max: 13, desired: 10 } },
    steps: ["old to 20", "new to 13"],
  },
  {
    it: "from 10 to 5 keeps the proportion",
    wants: { replicas: 5, maxSurge: 0, maxUnavailable: 1 },
    has: { old: { size: 5, max: 10, desired: 10 }, new: { size: 5, available: 0, max: 10, desired: 10, bornAt: 1 } },
    steps: ["old to 2", "new to 3"],
  },
  {
    it: "adds the rounding remainder to the largest ReplicaSet",
    wants: { replicas: 20, maxSurge: 0, maxUnavailable: 1 },
    has: { a: { size: 4, max: 10 }, b: { size: 3, max: 10 }, new: { size: 3, available: 0, max: 10, bornAt: 1 } },
    steps: ["a to 8", "new to 6", "b to 6"],
  },
  {
    it: "adds the rounding remainder to the newer of equal ReplicaSets",
    wants: { replicas: 6, maxSurge: 0, maxUnavailable: 1 },
    has: { a: { size: 1, max: 5 }, b: { size: 2, max: 5, bornAt: 1 }, new: { size: 2, available: 0, max: 5, bornAt: 2 } },
    steps: ["new to 3", "b to 2", "a to 1"],
  },
  {
    it: "to 0 scales all ReplicaSets to 0",
    wants: { replicas: 0, maxSurge: 3 },
    has: { old: { size: 8, max: 13 }, new: { size: 5, available: 0, max: 13 } },
    steps: ["old to 0", "new to 0"],
  },
  {
    it: "uses the number of Pods as maximum if the annotation was removed",
    wants: { replicas: 20, maxSurge: 0, maxUnavailable: 1, status: { replicas: 10 } },
    has: { old: { size: 5 }, new: { size: 5, available: 0, max: "many", bornAt: 1 } },
    steps: ["new to 10", "old to 10"],
  },
  {
    it: "changes only the largest ReplicaSet without annotations",
    wants: { replicas: 20, maxSurge: 0, maxUnavailable: 1 },
    has: { old: { size: 6 }, new: { size: 5, available: 0 } },
    steps: ["old to 15", "new to 5"],
  },
  {
    it: "updates all annotations even if no size changes",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 8, max: 13, desired: 9 }, new: { size: 5, available: 0, max: 13, desired: 9 } },
    steps: ["old to 8", "new to 5"],
  },
  {
    it: "of several under Recreate waits for the update",
    wants: { replicas: 10, strategy: { type: "Recreate" } },
    has: { old: { size: 8 }, new: { size: 5, available: 0 } },
    steps: [],
  },
];

for (const { it, wants, has, steps } of ROWS) {
  test(`scaling ${it}`, () => {
    const all = Object.entries(has).map(([name, facts]) => aReplicaSet(name, facts));

    const plan = planScaling(aRollout(aDeployment(wants), ...all));

    assert.deepEqual(
      plan.map(({ name, replicas }) => `${name} to ${replicas}`),
      steps,
    );
  });
}

test("scaling to a positive number ends with the allowed total, whatever was before", () => {
  const size = fc.integer({ min: 1, max: 500 });
  fc.assert(
    fc.property(size, fc.nat(20), fc.array(fc.tuple(size, fc.nat(600)), { minLength: 2, maxLength: 6 }), (replicas, maxSurge, sizes) => {
      const all = sizes.map(([one, max], index) => aReplicaSet(`rs-${index}`, { size: one, max, bornAt: index }));
      const most = replicas + maxSurge;

      const plan = planScaling(aRollout(aDeployment({ replicas, maxSurge, maxUnavailable: 1 }), ...all));

      const total = plan.reduce((sum, step) => sum + step.replicas, 0);
      assert.ok(plan.every((step) => step.replicas >= 0));
      // Only the lower bound 0 can prevent it.
      assert.ok(total === most || plan[0]?.replicas === 0, `${total} instead of ${most}`);
    }),
  );
});

for (const { it, has, is } of [
  { it: "one with Pods has another desired-replicas annotation", has: { size: 1, desired: 4 }, is: true },
  { it: "one with Pods has this desired-replicas annotation", has: { size: 1, desired: 3 }, is: false },
  { it: "one without Pods has another desired-replicas annotation", has: { size: 0, desired: 4 }, is: false },
  { it: "the desired-replicas annotation is missing", has: { size: 1 }, is: false },
  { it: "the desired-replicas annotation is not a number", has: { size: 1, desired: "-4" }, is: false },
  { it: "the desired-replicas annotation is out of range", has: { size: 1, desired: "4294967295" }, is: false },
]) {
  test(`a Deployment is ${is ? "" : "not "}scaling if ${it}`, () => {
    assert.equal(isScaled(aRollout(aDeployment({ replicas: 3 }), aReplicaSet("old", has))), is);
  });
}
