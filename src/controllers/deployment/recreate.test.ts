import assert from "node:assert/strict";
import test from "node:test";
import type { Pod } from "../../api/generated/core/v1.ts";
import { planOldOnesAway, runsOldPods } from "./recreate.ts";
import { aDeployment, aReplicaSet, aRollout } from "./testing/rollouts.ts";

const RECREATED = aDeployment({ strategy: { type: "Recreate" } });

test("Recreate scales every old ReplicaSet to zero, and not the new one", () => {
  const rollout = aRollout(RECREATED, aReplicaSet("a", { size: 2 }), aReplicaSet("b"), aReplicaSet("new", { size: 3 }));

  assert.deepEqual(planOldOnesAway(rollout), [{ name: "a", replicas: 0 }]);
});

for (const { it, counted = 0, phases, runs } of [
  { it: "has no Pods", phases: [], runs: false },
  { it: "has Pods according to its status", counted: 1, phases: [], runs: true },
  { it: "has a Pod that is running", phases: ["Running"], runs: true },
  { it: "has a Pod of unknown phase", phases: ["Unknown"], runs: true },
  { it: "has only terminated Pods", phases: ["Failed", "Succeeded"], runs: false },
  { it: "has a terminated and a pending Pod", phases: ["Failed", "Pending"], runs: true },
]) {
  test(`an old ReplicaSet that ${it} ${runs ? "delays" : "does not delay"} new Pods`, () => {
    const rollout = aRollout(RECREATED, aReplicaSet("old", { replicas: counted }), aReplicaSet("new", { size: 1 }));
    const podsOf = phases.map((phase) => ({ status: { phase } }) as Pod);

    assert.equal(
      runsOldPods(rollout, ({ metadata }) => (metadata.name === "old" ? podsOf : [{ status: { phase: "Running" } } as Pod])),
      runs,
    );
  });
}
