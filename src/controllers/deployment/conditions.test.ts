import assert from "node:assert/strict";
import test from "node:test";
import { conditionNow, withConditionRemoved, withConditionReplaced, withConditionSet } from "./conditions.ts";

const available = (status: "True" | "False", reason: string, nowMs: number) =>
  conditionNow({ type: "Available", status, reason, message: `at ${nowMs}` }, nowMs);
const OTHER = { type: "Progressing", status: "True" };
const BEFORE = [available("True", "Enough", 0), OTHER];

test("a condition that says the same for the same reason stays as it is", () => {
  assert.equal(withConditionSet(BEFORE, available("True", "Enough", 5_000)), BEFORE);
});

test("a condition with another reason is so since it was", () => {
  assert.deepEqual(withConditionSet(BEFORE, available("True", "Plenty", 5_000)), [
    { ...available("True", "Plenty", 5_000), lastTransitionTime: "1970-01-01T00:00:00Z" },
    OTHER,
  ]);
});

test("a condition with another status is so since now", () => {
  assert.deepEqual(withConditionSet(BEFORE, available("False", "Enough", 5_000)), [available("False", "Enough", 5_000), OTHER]);
});

test("a condition can be told again", () => {
  assert.deepEqual(withConditionReplaced(BEFORE, available("True", "Enough", 5_000)), [
    { ...available("True", "Enough", 5_000), lastTransitionTime: "1970-01-01T00:00:00Z" },
    OTHER,
  ]);
});

test("removing a condition that is not there changes nothing", () => {
  assert.equal(withConditionRemoved(BEFORE, "ReplicaFailure"), BEFORE);
  assert.deepEqual(withConditionRemoved(BEFORE, "Available"), [OTHER]);
});

test("conditions stand in the order of their types, whichever came last", () => {
  const failure = conditionNow({ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "" }, 0);
  const first = withConditionSet([failure, OTHER], available("True", "Enough", 0));

  assert.deepEqual(
    first?.map(({ type }) => type),
    ["Available", "Progressing", "ReplicaFailure"],
  );
});
