import assert from "node:assert/strict";
import test from "node:test";
import { planForgetting } from "./history.ts";
import { aDeployment, aReplicaSet, aRollout } from "./testing/rollouts.ts";

for (const { it, limit, has, goes } of [
  { it: "keeps as many as the limit", limit: 2, has: { a: { revision: 1 }, b: { revision: 2 } }, goes: [] },
  { it: "deletes the lowest revisions", limit: 1, has: { a: { revision: 9 }, b: { revision: 10 }, c: { revision: 2 } }, goes: ["c", "a"] },
  { it: "deletes all with a limit of 0", limit: 0, has: { a: {}, b: {} }, goes: ["a", "b"] },
  { it: "keeps all without a limit", limit: 2 ** 31 - 1, has: { a: {}, b: {} }, goes: [] },
  { it: "keeps one with desired replicas, and deletes no other instead", limit: 1, has: { a: { size: 1 }, b: {} }, goes: [] },
  { it: "keeps one that has Pods", limit: 0, has: { a: { replicas: 1 } }, goes: [] },
  { it: "keeps one whose observedGeneration is outdated", limit: 0, has: { a: { status: { observedGeneration: 0 } } }, goes: [] },
  { it: "does not count one that is terminating", limit: 1, has: { a: { isTerminating: true as const }, b: {} }, goes: [] },
  {
    it: "is ordered by age if revisions are not numbers",
    limit: 1,
    has: { a: { revision: "x", bornAt: 2 }, b: { revision: 3, bornAt: 1 } },
    goes: ["b"],
  },
]) {
  test(`the history ${it}`, () => {
    const all = Object.entries(has).map(([name, facts]) => aReplicaSet(name, facts));

    const forgotten = planForgetting(aRollout(aDeployment({ revisionHistoryLimit: limit }), ...all));

    assert.deepEqual(
      forgotten.map(({ metadata }) => metadata.name),
      goes,
    );
  });
}
