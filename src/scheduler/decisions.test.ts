import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { type Decision, Decisions, DECISIONS_PER_POD_MAX } from "./decisions.ts";

function attempt(number: number): Decision {
  return { atMs: number, uid: "u", schedulerName: "s", attempt: number, outcome: "unschedulable", message: "", refused: [], scores: [] };
}

test("the last decisions of a Pod are kept, oldest first", () => {
  const decisions = new Decisions();
  for (let number = 1; number <= DECISIONS_PER_POD_MAX + 2; number++) decisions.record("default/a", attempt(number));

  deepEqual(
    decisions.of({ namespace: "default", name: "a" }).map((decision) => decision.attempt),
    [3, 4, 5, 6, 7],
  );
  deepEqual(decisions.of({ namespace: "default", name: "b" }), []);
});

test("beyond the limit the least recently decided Pods are dropped", () => {
  const decisions = new Decisions(2);
  for (const name of ["a", "b", "a", "c"]) decisions.record(`default/${name}`, attempt(1));

  equal(decisions.of({ namespace: "default", name: "b" }).length, 0);
  equal(decisions.of({ namespace: "default", name: "a" }).length, 2);
});
