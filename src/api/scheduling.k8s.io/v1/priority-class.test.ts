import assert from "node:assert/strict";
import test from "node:test";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { builtInPriorityClasses } from "./built-in.ts";
import { priorityClasses } from "./priority-class.ts";

const RESERVED = "metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use only. error: ";
const NODE = { metadata: { name: "system-node-critical" } };

const NEW: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["nothing in it", {}, []],
  ["the highest that users can have", { value: 1_000_000_000 }, []],
  ["less than nothing", { value: -5 }, []],
  [
    "more than users can have",
    { value: 1_000_000_001 },
    ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
  ],
  ["an empty policy", { preemptionPolicy: "" }, ["preemptionPolicy: Required value"]],
  [
    "a policy that there is not",
    { preemptionPolicy: "x" },
    ['preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
  ],
  [
    "a name of the system that there is not",
    { metadata: { name: "system-x" }, value: 1 },
    [`${RESERVED}system-x is not a known system priority class`],
  ],
  [
    "the system's name and another value",
    { ...NODE, value: 1 },
    [`${RESERVED}value of system-node-critical PriorityClass must be 2000001000`],
  ],
  [
    "the system's name, for all Pods",
    { ...NODE, value: 2_000_001_000, globalDefault: true },
    [`${RESERVED}globalDefault of system-node-critical PriorityClass must be false`],
  ],
];

for (const [title, sent, problems] of NEW) {
  test(`a PriorityClass with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () =>
    assert.deepEqual(problemsOfNew(priorityClasses, sent), problems));
}

for (const { metadata, value = 0 } of builtInPriorityClasses) {
  test(`the built-in ${metadata.name} is valid`, () =>
    assert.deepEqual(problemsOfNew(priorityClasses, { metadata: { name: metadata.name }, value }), []));
}

test("value and preemptionPolicy of a PriorityClass are immutable; metadata and description are not", () => {
  const previous = newObject(priorityClasses, { value: 1 });

  assert.deepEqual(problemsOfChange(priorityClasses, previous, { value: 2, preemptionPolicy: "Never" }), [
    "value: Forbidden: may not be changed in an update.",
    'preemptionPolicy: Invalid value: "Never": field is immutable',
  ]);
  assert.deepEqual(problemsOfChange(priorityClasses, previous, { value: 1, description: "x", globalDefault: true }), []);
  assert.equal(priorityClasses.changesGeneration?.({ ...previous, description: "x" }, previous), false);
});

test("the table of PriorityClasses shows the value, whether it is the default, and the policy", () => {
  const cells = cellsOf(priorityClasses, newObject(priorityClasses, { value: 7 }));

  assert.deepEqual(columnNames(priorityClasses), ["Name", "Value", "Global-Default", "Age", "PreemptionPolicy"]);
  assert.deepEqual([cells.Value, cells["Global-Default"], cells.PreemptionPolicy], [7, false, "PreemptLowerPriority"]);
});
