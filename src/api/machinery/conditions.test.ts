import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { findCondition, isConditionTrue, validateConditions, withCondition, withoutCondition, type Condition } from "./conditions.ts";
import { describeFieldError } from "./field-error.ts";
import { validateConditionReason } from "./names.ts";

const ready: Condition = { type: "Ready", status: "True", lastTransitionTime: "2024-01-01T00:00:00Z", reason: "Up", message: "" };
const stuck: Condition = { ...ready, type: "Stuck", status: "False" };
const nowMs = Date.UTC(2025, 0, 1);

test("a condition is found by its type", () => {
  equal(findCondition([stuck, ready], "Ready"), ready);
  equal(findCondition(undefined, "Ready"), undefined);
  deepEqual([isConditionTrue([ready], "Ready"), isConditionTrue([stuck], "Stuck"), isConditionTrue([], "Ready")], [true, false, false]);
});

test("lastTransitionTime of a condition changes only with its status", () => {
  const { lastTransitionTime: _, ...same } = { ...ready, message: "Still up" };
  deepEqual(withCondition([ready, stuck], same, nowMs), [{ ...ready, message: "Still up" }, stuck]);
  deepEqual(withCondition([ready, stuck], { ...same, status: "False" }, nowMs)[0], {
    ...same,
    status: "False",
    lastTransitionTime: "2025-01-01T00:00:00Z",
  });
});

test("a new condition is appended and a removed one is no longer listed", () => {
  const { lastTransitionTime: _, ...fresh } = ready;
  deepEqual(withCondition([stuck], fresh, nowMs), [stuck, { ...ready, lastTransitionTime: "2025-01-01T00:00:00Z" }]);
  deepEqual(withoutCondition([stuck, ready], "Stuck"), [ready]);
});

test("conditions are validated with upstream's messages", () => {
  const bad = { type: "", status: "Maybe", observedGeneration: -1, message: "m".repeat(32 * 1024 + 1) } as Condition;
  const errors = [
    ...validateConditions([ready, ready, bad, { ...stuck, reason: "r".repeat(1_025) }, { ...ready, type: "X", reason: "a b" }], "c"),
  ];
  deepEqual(
    errors.map(describeFieldError).filter((error) => !error.startsWith("c[2].type")),
    [
      'c[1].type: Duplicate value: "Ready"',
      'c[2].status: Unsupported value: "Maybe": supported values: "False", "True", "Unknown"',
      "c[2].observedGeneration: Invalid value: -1: must be greater than or equal to zero",
      "c[2].lastTransitionTime: Required value",
      "c[2].reason: Required value",
      "c[2].message: Too long: may not be more than 32768 bytes",
      "c[3].reason: Too long: may not be more than 1024 bytes",
      `c[4].reason: Invalid value: "a b": ${validateConditionReason("a b")[0]}`,
    ],
  );
});
