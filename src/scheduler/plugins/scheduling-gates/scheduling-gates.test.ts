import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { checkRetries, made, podEvent } from "../../framework/testing/call-plugin.ts";
import { aPod } from "../../framework/testing/builders.ts";
import { schedulingGates } from "./scheduling-gates.ts";

const plugin = made(schedulingGates);

for (const [when, gates, expected] of [
  ["there is no gate", [], undefined],
  ["there is one", ["a.io/x"], { reasons: ["waiting for scheduling gates: [a.io/x]"], resolvable: false }],
  ["there are two", ["b", "a"], { reasons: ["waiting for scheduling gates: [b a]"], resolvable: false }],
] as const) {
  test(`SchedulingGates.preEnqueue when ${when}`, () => deepEqual(plugin.preEnqueue?.(aPod("p", { gates })), expected));
}

test("SchedulingGates reconsiders a Pod when its last gate is removed", () => {
  const gated = aPod("p", { gates: ["a"] });
  checkRetries(plugin, gated, [
    ["the last gate is removed", podEvent("waiting-pod", "ungated", aPod("p"), gated), true],
    ["its labels changed", podEvent("waiting-pod", "labels", gated, gated), false],
  ]);
});
