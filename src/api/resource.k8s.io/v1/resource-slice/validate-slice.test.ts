import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { newObject, problemsOfChange, problemsOfNew } from "../../../testing/kind.ts";
import { resourceSlices } from "../resource-slice.ts";
import { NOT_A_LABEL, NOT_A_SUBDOMAIN, times } from "../testing/messages.ts";

const ONE_PLACE = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";

const BASE: JsonObject = { driver: "d", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };
const SPEC: JsonObject = { ...BASE, allNodes: true };
const COUNTERS = { a: { value: "1" } };
const TERM = { matchExpressions: [{ key: "a", operator: "Exists" }] };

const ROWS: readonly [title: string, spec: JsonObject, problems: readonly string[]][] = [
  ["no devices", SPEC, []],
  ["counters", { ...SPEC, sharedCounters: [{ name: "a", counters: COUNTERS }] }, []],
  [
    "nothing",
    {},
    [
      "spec.driver: Required value",
      "spec.pool.name: Required value",
      "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
      `spec: Required value: ${ONE_PLACE}`,
    ],
  ],
  [
    "a driver and a pool that cannot be called so",
    { ...SPEC, driver: "A_", pool: { name: "P", generation: -1, resourceSliceCount: -1 } },
    [
      `spec.driver: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `spec.pool.name: Invalid value: "P": ${NOT_A_SUBDOMAIN}`,
      "spec.pool.resourceSliceCount: Invalid value: -1: must be greater than zero",
      "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
    ],
  ],
  [
    "names that are too long",
    { ...SPEC, driver: "x".repeat(64), pool: { name: `${"x".repeat(200)}/${"y".repeat(53)}`, generation: 0, resourceSliceCount: 1 } },
    ["spec.driver: Too long: may not be more than 63 bytes", "spec.pool.name: Too long: may not be more than 253 bytes"],
  ],
  [
    "places that are none",
    { ...BASE, nodeName: "", allNodes: false, perDeviceNodeSelection: false },
    [
      'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
      "spec.allNodes: Invalid value: false: must be either unset or set to true",
      "spec.perDeviceNodeSelection: Invalid value: false: must be either unset or set to true",
      `spec: Required value: ${ONE_PLACE}`,
    ],
  ],
  [
    "every place at once",
    { ...SPEC, nodeName: "A", nodeSelector: { nodeSelectorTerms: [TERM] }, perDeviceNodeSelection: true },
    [
      `spec.nodeName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      `spec: Invalid value: "{\`nodeName\`, \`nodeSelector\`, \`allNodes\`, \`perDeviceNodeSelection\`}": ${ONE_PLACE}, but multiple fields are set`,
    ],
  ],
  [
    "a selector of nothing",
    { ...BASE, nodeSelector: {} },
    [
      "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
      "spec.nodeSelector.nodeSelectorTerms: Invalid value: null: must have exactly one node selector term",
    ],
  ],
  [
    "a selector of two terms",
    { ...BASE, nodeSelector: { nodeSelectorTerms: [TERM, {}] } },
    [
      'spec.nodeSelector.nodeSelectorTerms: Invalid value: [{"MatchExpressions":[{"Key":"a","Operator":"Exists","Values":null}],"MatchFields":null},{"MatchExpressions":null,"MatchFields":null}]: must have exactly one node selector term',
    ],
  ],
  [
    "devices and counters in one",
    { ...SPEC, devices: [{ name: "a" }], sharedCounters: [{ name: "a", counters: COUNTERS }] },
    ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
  ],
  [
    "devices that are there twice",
    { ...SPEC, devices: [{ name: "a" }, { name: "a" }, { name: "B" }] },
    [`spec.devices[2].name: Invalid value: "B": ${NOT_A_LABEL}`, 'spec.devices[1]: Duplicate value: "a"'],
  ],
  ["as many devices as there may be", { ...SPEC, devices: times(128, (index) => ({ name: `d${index}` })) }, []],
  ["more devices", { ...SPEC, devices: times(129, () => ({})) }, ["spec.devices: Too many: 129: must have at most 128 items"]],
  [
    "more devices than there may be if one has a taint",
    { ...SPEC, devices: times(65, () => ({ taints: [{}] })) },
    ["spec.devices: Too many: 65: must have at most 64 items"],
  ],
  [
    "more devices than there may be if one takes from counters",
    { ...SPEC, devices: times(65, () => ({ consumesCounters: [{}] })) },
    ["spec.devices: Too many: 65: must have at most 64 items"],
  ],
  [
    "counters that count nothing, or are there twice",
    {
      ...SPEC,
      sharedCounters: [
        {},
        { name: "A", counters: { "-": { value: "1" } } },
        { name: "b", counters: Object.fromEntries(times(33, (index) => [`c${index}`, { value: "1" }])) },
        { name: "b", counters: COUNTERS },
      ],
    },
    [
      "spec.sharedCounters[0].name: Required value",
      "spec.sharedCounters[0].counters: Required value",
      `spec.sharedCounters[1].name: Invalid value: "A": ${NOT_A_LABEL}`,
      `spec.sharedCounters[1].counters: Invalid value: "-": ${NOT_A_LABEL}`,
      "spec.sharedCounters[2].counters: Too many: 33: must have at most 32 items",
      'spec.sharedCounters[3]: Duplicate value: "b"',
    ],
  ],
  ["too many counters", { ...SPEC, sharedCounters: times(9, () => ({})) }, ["spec.sharedCounters: Too many: 9: must have at most 8 items"]],
];

for (const [title, spec, problems] of ROWS) {
  test(`a slice with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(problemsOfNew(resourceSlices, { spec }), problems);
  });
}

test("driver, pool and node of a ResourceSlice are immutable", () => {
  const previous = newObject(resourceSlices, { spec: { ...BASE, nodeName: "n" } });
  const pool = { name: "q", generation: 2, resourceSliceCount: 2 };

  assert.deepEqual(problemsOfChange(resourceSlices, previous, { spec: { ...BASE, nodeName: "n", devices: [{ name: "a" }] } }), []);
  assert.deepEqual(problemsOfChange(resourceSlices, previous, { spec: { driver: "e", pool, allNodes: true } }), [
    'spec.pool.name: Invalid value: "q": field is immutable',
    'spec.driver: Invalid value: "e": field is immutable',
    "spec.nodeName: Invalid value: null: field is immutable",
  ]);
});

test("existing taints are not validated again", () => {
  const taints = [{ key: "-", effect: "None", timeAdded: "2026-01-01T00:00:00Z" }];
  const previous = newObject(resourceSlices, { spec: { ...SPEC, devices: [{ name: "a", taints }] } });
  const problemsOf = (...devices: readonly JsonObject[]): number =>
    problemsOfChange(resourceSlices, previous, { spec: { ...SPEC, devices } }).length;

  assert.equal(problemsOf({ name: "b" }, { name: "a", taints }), 0);
  assert.equal(problemsOf({ name: "b", taints }), 1);
  assert.equal(problemsOf({ name: "a", taints: [...taints, ...taints] }), 2);
});
