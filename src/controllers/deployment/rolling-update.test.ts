import assert from "node:assert/strict";
import test from "node:test";
import { newReplicaSetSize, planRollingUpdate } from "./rolling-update.ts";
import type { StartedRollout } from "./rollout.ts";
import { aDeployment, aReplicaSet, aRollout, type DeploymentFacts, type ReplicaSetFacts } from "./testing/rollouts.ts";

interface Row {
  readonly it: string;
  readonly wants: DeploymentFacts;
  readonly has: Readonly<Record<string, ReplicaSetFacts>>;
  readonly steps: readonly string[];
}

const ROWS: readonly Row[] = [
  {
    it: "scales up the new ReplicaSet within maxSurge",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 10 }, new: { size: 0 } },
    steps: ["new to 3"],
  },
  {
    it: "scales up the new ReplicaSet to at most the desired replicas",
    wants: { replicas: 2, maxSurge: 5, maxUnavailable: 0 },
    has: { old: { size: 2 }, new: { size: 1 } },
    steps: ["new to 2"],
  },
  {
    it: "scales down the new ReplicaSet if it exceeds the desired replicas",
    wants: { replicas: 2 },
    has: { new: { size: 5 } },
    steps: ["new to 2"],
  },
  {
    it: "scales down old ReplicaSets only when maxSurge is used up",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 10 }, new: { size: 3, available: 0 } },
    steps: ["old to 8"],
  },
  {
    it: "waits for new Pods that are not available yet",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 8 }, new: { size: 5, available: 0 } },
    steps: [],
  },
  {
    it: "scales down unhealthy old ReplicaSets first, and reports both steps",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { old: { size: 10, available: 8 }, new: { size: 3, available: 3 } },
    steps: ["old to 8", "old to 5"],
  },
  {
    it: "deletes no more unhealthy Pods than maxUnavailable",
    wants: { replicas: 10, maxSurge: 0, maxUnavailable: 2 },
    has: { old: { size: 10, available: 5 }, new: { size: 0 } },
    steps: ["old to 8"],
  },
  {
    it: "scales down the oldest ReplicaSet first",
    wants: { replicas: 10, maxSurge: 0, maxUnavailable: 2 },
    has: { old: { size: 1, bornAt: 1 }, older: { size: 9, bornAt: 2 }, new: { size: 0 } },
    steps: ["old to 0", "older to 8"],
  },
  {
    it: "scales down the unhealthy Pods of a failed rollout first when the previous template is restored",
    wants: { replicas: 10, maxSurge: 3, maxUnavailable: 2 },
    has: { broken: { size: 5, available: 0 }, new: { size: 8, available: 7 } },
    steps: ["broken to 1"],
  },
  {
    it: "waits for an old ReplicaSet whose scale-down has not finished",
    wants: { replicas: 10, maxSurge: 0, maxUnavailable: 2 },
    has: { old: { size: 8, replicas: 10 }, new: { size: 2, available: 2 } },
    steps: [],
  },
  { it: "does nothing when it is complete", wants: { replicas: 3 }, has: { old: { size: 0 }, new: { size: 3 } }, steps: [] },
  {
    it: "scales down by one if maxSurge and maxUnavailable both round to 0",
    wants: { replicas: 1, maxSurge: 0, maxUnavailable: "1%" },
    has: { old: { size: 1 }, new: { size: 0 } },
    steps: ["old to 0"],
  },
];

for (const { it, wants, has, steps } of ROWS) {
  test(`a rolling update ${it}`, () => {
    const all = Object.entries(has).map(([name, facts]) => aReplicaSet(name, facts));
    const rollout = aRollout(aDeployment(wants), ...all) as StartedRollout;

    assert.deepEqual(
      planRollingUpdate(rollout).map(({ name, replicas }) => `${name} to ${replicas}`),
      steps,
    );
  });
}

test("a new ReplicaSet starts as large as the surge allows, and empty where there is no room", () => {
  const deployment = aDeployment({ replicas: 10, maxSurge: 3 });

  assert.equal(newReplicaSetSize(deployment, { size: 0, total: 0 }), 10);
  assert.equal(newReplicaSetSize(deployment, { size: 0, total: 10 }), 3);
  assert.equal(newReplicaSetSize(deployment, { size: 0, total: 13 }), 0);
  assert.equal(newReplicaSetSize(deployment, { size: 4, total: 20 }), 4);
});
