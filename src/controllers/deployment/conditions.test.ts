import assert from "node:assert/strict";
import test from "node:test";
import { conditionNow, withConditionRemoved, withConditionReplaced, withConditionSet } from "./conditions.ts";

const available = (status: "True" | "False", reason: string, nowMs: number) =>
  conditionNow({ type: "Available", status, reason, message: `at ${nowMs}` }, nowMs);
const OTHER = { type: "Progressing", status: "True" };
const BEFORE = [available("True", "Enough", 0), OTHER];

test("a condition with the same status and reason is unchanged", () => {
  assert.equal(withConditionSet(BEFORE, available("True", "Enough", 5_000)), BEFORE);
});

test("a condition with another reason keeps its lastTransitionTime", () => {
  assert.deepEqual(withConditionSet(BEFORE, available("True", "Plenty", 5_000)), [
    { ...available("True", "Plenty", 5_000), lastTransitionTime: "1970-01-01T00:00:00Z" },
    OTHER,
  ]);
});

test("a condition with another status gets a new lastTransitionTime", () => {
  assert.deepEqual(withConditionSet(BEFORE, available("False", "Enough", 5_000)), [available("False", "Enough", 5_000), OTHER]);
});

test("a condition can be refreshed", () => {
  assert.deepEqual(withConditionReplaced(BEFORE, available("True", "Enough", 5_000)), [
    { ...available("True", "Enough", 5_000), lastTransitionTime: "1970-01-01T00:00:00Z" },
    OTHER,
  ]);
});

test("removing a missing condition changes nothing", () => {
  assert.equal(withConditionRemoved(BEFORE, "ReplicaFailure"), BEFORE);
  assert.deepEqual(withConditionRemoved(BEFORE, "Available"), [OTHER]);
});

test("conditions are ordered by type, whichever changed last", () => {
  const failure = conditionNow({ type: "ReplicaFailure", status: "True", reason: "FailedCreate", message: "" }, 0);
  const first = withConditionSet([failure, OTHER], available("True", "Enough", 0));

  assert.deepEqual(
    first?.map(({ type }) => type),
    ["Available", "Progressing", "ReplicaFailure"],
  );
});
