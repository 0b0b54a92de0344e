import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import { readPodTopologySpreadArguments } from "./arguments.ts";

const ZONES = { maxSkew: 5, topologyKey: "topology.kubernetes.io/zone", whenUnsatisfiable: "ScheduleAnyway" };

function list(...defaultConstraints: readonly unknown[]): unknown {
  return { defaultingType: "List", defaultConstraints };
}

test("empty arguments are the system defaults", () => {
  const defaults = { ok: true, arguments: { defaultConstraints: [], defaultingType: "System" } };

  deepEqual([readPodTopologySpreadArguments(undefined), readPodTopologySpreadArguments({ defaultingType: "" })], [defaults, defaults]);
});

const ROWS: readonly (readonly [when: string, written: unknown, problems: readonly string[]])[] = [
  ["a list of constraints", list(ZONES), []],
  ["an empty list", list(), []],
  ["an unknown way", { defaultingType: "All" }, ['defaultingType: Unsupported value: "All": supported values: "System", "List"']],
  [
    "a list that is not asked for",
    { defaultingType: "System", defaultConstraints: [ZONES] },
    ['defaultingType: Invalid value: "System": when .defaultConstraints are not empty'],
  ],
  [
    "nothing that is needed",
    list({ maxSkew: 0, topologyKey: "", whenUnsatisfiable: "" }),
    [
      "defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)",
      "defaultConstraints[0].topologyKey: Required value: can not be empty",
      "defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty",
    ],
  ],
  [
    "an unknown action",
    list({ ...ZONES, whenUnsatisfiable: "Perhaps" }),
    ['defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Perhaps": supported values: "DoNotSchedule", "ScheduleAnyway"'],
  ],
  [
    "a selector",
    list({ ...ZONES, labelSelector: { matchLabels: { a: "b" } } }),
    ["defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod"],
  ],
  [
    "the same twice",
    list(ZONES, { ...ZONES, maxSkew: 1 }),
    ['defaultConstraints[1]: Duplicate value: "{topology.kubernetes.io/zone, ScheduleAnyway}"'],
  ],
  ["an unknown field", { default: [] }, ['unknown field "default"']],
];

for (const [when, written, problems] of ROWS) {
  test(`arguments with ${when} have ${problems.length === 0 ? "no error" : "upstream's errors"}`, () => {
    const read = readPodTopologySpreadArguments(written);

    deepEqual(read.ok ? [] : read.problems, problems);
  });
}
