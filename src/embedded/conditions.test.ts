import { equal } from "node:assert/strict";
import { test } from "node:test";
import type { KubeObject } from "../api/machinery/object.ts";
import * as conditions from "./conditions.ts";

const CONDITIONS: typeof conditions = conditions;

type Name = Exclude<keyof typeof conditions, "hasCondition">;

const object = (status: object, spec: object = {}, generation = 1) =>
  ({ apiVersion: "v1", kind: "Any", metadata: { name: "a", generation }, spec, status }) as KubeObject;
const withCondition = (type: string, status: string, more: object = {}) =>
  object({ conditions: [{ type, status, ...more }], observedGeneration: 1 });
const onEveryNode = { observedGeneration: 2, desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberAvailable: 2 };
const rolledOut = { replicas: 3, updatedReplicas: 3, availableReplicas: 3, observedGeneration: 2 };

const ROWS: readonly (readonly [Name, string, KubeObject | undefined, boolean])[] = [
  ["isAvailable", "nothing", undefined, false],
  ["isAvailable", "a true condition", withCondition("Available", "True"), true],
  ["isAvailable", "a false condition", withCondition("Available", "False"), false],
  ["isAvailable", "a condition of an older generation", object({ conditions: [{ type: "Available", status: "True" }] }, {}, 2), false],
  ["isReady", "a true condition", withCondition("Ready", "True"), true],
  ["isReady", "a condition with status Unknown", withCondition("Ready", "Unknown"), false],
  ["isReady", "nothing", undefined, false],
  ["isRolledOut", "all new and available", object(rolledOut, { replicas: 3 }, 2), true],
  ["isRolledOut", "an old Pod that is left", object({ ...rolledOut, replicas: 4 }, { replicas: 3 }, 2), false],
  ["isRolledOut", "one that is not available", object({ ...rolledOut, availableReplicas: 2 }, { replicas: 3 }, 2), false],
  ["isRolledOut", "a template that was not seen yet", object(rolledOut, { replicas: 3 }, 3), false],
  ["isRolledOut", "a DaemonSet with a new Pod on every node", { ...object(onEveryNode, {}, 2), kind: "DaemonSet" }, true],
  [
    "isRolledOut",
    "a DaemonSet with an old Pod",
    { ...object({ ...onEveryNode, updatedNumberScheduled: 1 }, {}, 2), kind: "DaemonSet" },
    false,
  ],
  ["isRolledOut", "nothing", undefined, false],
  ["isRolledOut", "scaled to nothing", object({ observedGeneration: 2 }, { replicas: 0 }, 2), true],
  ["isRunning", "a Pod that runs", object({ phase: "Running" }), true],
  ["isRunning", "a Pod that waits", object({ phase: "Pending" }), false],
  ["isSucceeded", "a Pod that is done", object({ phase: "Succeeded" }), true],
  ["isFailed", "a Pod that failed", object({ phase: "Failed" }), true],
  ["isFailed", "nothing", undefined, false],
  ["isScheduled", "a Pod with a node", object({}, { nodeName: "n" }), true],
  ["isScheduled", "a Pod without", object({}), false],
  ["isUnschedulable", "a refused Pod", withCondition("PodScheduled", "False", { reason: "Unschedulable" }), true],
  ["isUnschedulable", "a gated Pod", withCondition("PodScheduled", "False", { reason: "SchedulingGated" }), false],
  ["isGone", "nothing", undefined, true],
  ["isGone", "something", object({}), false],
];

for (const [name, what, given, expected] of ROWS) {
  test(`${name} is ${expected} for ${what}`, () => equal(CONDITIONS[name](given), expected));
}

test("hasCondition accepts any condition", () => {
  equal(conditions.hasCondition("Progressing")(withCondition("Progressing", "True")), true);
  equal(conditions.hasCondition("Progressing")(withCondition("Available", "True")), false);
});
