import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { resourceSlices } from "../resource-slice.ts";
import { NOT_AN_IDENTIFIER, NOT_A_LABEL, NOT_A_NAME, NOT_A_SUBDOMAIN, NOT_A_VALUE, times } from "../testing/messages.ts";

const NOT_A_VERSION = "must be a string compatible with semver.org spec 2.0.0";
const ONE_PLACE =
  "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
const NOT_BY_DEVICE =
  "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";

const SPEC: JsonObject = { driver: "d", pool: { name: "p", generation: 1, resourceSliceCount: 1 } };

function mapOf(count: number, entry: (index: number) => [string, JsonObject]): JsonObject {
  return Object.fromEntries(times(count, entry));
}

type Row = readonly [title: string, device: JsonObject, problems: readonly string[]];

const ROWS: readonly Row[] = [
  [
    "everything",
    {
      attributes: { a: { int: 1 }, "b.c/d": { bool: false }, e: { string: "" }, f: { version: "1.2.3-a.1+b" } },
      capacity: { memory: { value: "1Gi" } },
      taints: [{ key: "k", value: "v", effect: "NoExecute" }],
      consumesCounters: [{ counterSet: "s", counters: { a: { value: "1" } } }],
      bindingConditions: ["a"],
      bindingFailureConditions: ["b"],
    },
    [],
  ],
  [
    "as much of everything as there may be",
    {
      attributes: mapOf(20, (index) => [`a${index}`, { int: 1 }]),
      capacity: mapOf(12, (index) => [`c${index}`, { value: "1" }]),
      consumesCounters: [{ counterSet: "s", counters: mapOf(32, (index) => [`c${index}`, { value: "1" }]) }],
    },
    [],
  ],
  [
    "more attributes and capacities than there may be",
    { attributes: mapOf(20, (index) => [`a${index}`, { int: 1 }]), capacity: mapOf(13, (index) => [`c${index}`, { value: "1" }]) },
    [": Invalid value: 33: the total number of attributes and capacities must not exceed 32"],
  ],
  [
    "as many values of attributes as there may be, which are too many attributes",
    { attributes: mapOf(48, (index) => [`a${index}`, { int: 1 }]) },
    [": Invalid value: 48: the total number of attributes and capacities must not exceed 32"],
  ],
  [
    "more values of attributes than there may be",
    { attributes: mapOf(49, (index) => [`a${index}`, { int: 1 }]) },
    [
      ": Invalid value: 49: the total number of attributes and capacities must not exceed 32",
      ": Invalid value: 49: the total number of attribute values must not exceed 48",
    ],
  ],
  [
    "attributes that cannot be called so",
    {
      attributes: {
        "a-b": { int: 1 },
        "/": { int: 1 },
        "A_/1": { int: 1 },
        [`a/${"x".repeat(33)}`]: { int: 1 },
        [`${"x".repeat(64)}/a`]: { int: 1 },
        "a/b/c": { int: 1 },
      },
    },
    [
      `.attributes: Invalid value: "a-b": ${NOT_AN_IDENTIFIER}`,
      '.attributes: Invalid value: "": the domain must not be empty',
      '.attributes: Invalid value: "": the name must not be empty',
      `.attributes: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      `.attributes: Invalid value: "1": ${NOT_AN_IDENTIFIER}`,
      ".attributes: Too long: may not be more than 32 bytes",
      ".attributes: Too long: may not be more than 63 bytes",
    ],
  ],
  [
    "attributes without a value, and with several",
    { attributes: { a: {}, b: { int: 1, string: "x" } } },
    [
      '.attributes[a]: Invalid value: "": exactly one value must be specified',
      '.attributes[b]: Invalid value: {"IntValue":1,"BoolValue":null,"StringValue":"x","VersionValue":null,"IntValues":null,"BoolValues":null,"StringValues":null,"VersionValues":null}: exactly one value must be specified',
    ],
  ],
  [
    "values that are too long, of an attribute whose name is too long to be shown",
    { attributes: { a: { string: "x".repeat(65) }, [`${"y".repeat(60)}/${"z".repeat(60)}`]: { version: `1.2.3-${"x".repeat(59)}` } } },
    [
      ".attributes[a].string: Too long: may not be more than 64 bytes",
      ".attributes: Too long: may not be more than 32 bytes",
      `.attributes[${"y".repeat(47)}...${"z".repeat(46)}].version: Too long: may not be more than 64 bytes`,
    ],
  ],
  [
    "an attribute without a value whose name is as long as it may be",
    { attributes: { [`${"y".repeat(63)}/${"z".repeat(32)}`]: {} } },
    [`.attributes[${"y".repeat(63)}/${"z".repeat(32)}]: Invalid value: "": exactly one value must be specified`],
  ],
  [
    "capacities that cannot be called so",
    {
      capacity: {
        "a-b": { value: "1" },
        "/": { value: "1" },
        "A_/b": { value: "1" },
        [`${"x".repeat(64)}/${"y".repeat(33)}`]: { value: "1" },
      },
    },
    [
      `.capacity: Invalid value: "a-b": ${NOT_AN_IDENTIFIER}`,
      '.capacity: Invalid value: "": the domain must not be empty',
      '.capacity: Invalid value: "": the name must not be empty',
      `.capacity: Invalid value: "A_": ${NOT_A_SUBDOMAIN}`,
      ".capacity: Too long: may not be more than 63 bytes",
      ".capacity: Too long: may not be more than 32 bytes",
    ],
  ],
  [
    "taints that say nothing",
    { taints: [{}, { key: "-", value: "-", effect: "Away" }] },
    [
      `.taints[0].key: Invalid value: "": name part must be non-empty`,
      `.taints[0].key: Invalid value: "": ${NOT_A_NAME}`,
      ".taints[0].effect: Required value",
      `.taints[1].key: Invalid value: "-": ${NOT_A_NAME}`,
      `.taints[1].value: Invalid value: "-": ${NOT_A_VALUE}`,
      '.taints[1].effect: Unsupported value: "Away": supported values: "NoExecute", "NoSchedule", "None"',
    ],
  ],
  ["too many taints", { taints: times(17, () => ({})) }, [".taints: Too many: 17: must have at most 16 items"]],
  [
    "counters that it takes nothing from",
    { consumesCounters: [{}, { counterSet: "A", counters: { "-": { value: "1" } } }] },
    [
      ".consumesCounters[0].counterSet: Required value",
      ".consumesCounters[0].counters: Required value",
      `.consumesCounters[1].counterSet: Invalid value: "A": ${NOT_A_LABEL}`,
      `.consumesCounters[1].counters: Invalid value: "-": ${NOT_A_LABEL}`,
    ],
  ],
  [
    "counters that it takes from twice, and too many of them",
    {
      consumesCounters: [
        { counterSet: "a", counters: mapOf(33, (index) => [`c${index}`, { value: "1" }]) },
        { counterSet: "a", counters: { a: { value: "1" } } },
      ],
    },
    [".consumesCounters[0].counters: Too many: 33: must have at most 32 items", '.consumesCounters[1]: Duplicate value: "a"'],
  ],
  ["too many sets of counters", { consumesCounters: times(3, () => ({})) }, [".consumesCounters: Too many: 3: must have at most 2 items"]],
  [
    "conditions of binding that do not fit each other",
    { bindingConditions: ["a", "a", "-"], bindingFailureConditions: ["a", "b", "b", "-"] },
    [
      `.bindingConditions[2]: Invalid value: "-": ${NOT_A_NAME}`,
      `.bindingFailureConditions[3]: Invalid value: "-": ${NOT_A_NAME}`,
      '.bindingConditions[1]: Duplicate value: "a"',
      '.bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must not overlap with bindingConditions',
      '.bindingFailureConditions[2]: Duplicate value: "b"',
      '.bindingFailureConditions[3]: Invalid value: "-": bindingFailureConditions must not overlap with bindingConditions',
    ],
  ],
  [
    "only conditions of success",
    { bindingConditions: ["a"] },
    [".bindingFailureConditions: Invalid value: null: bindingFailureConditions are required to use bindingConditions"],
  ],
  [
    "only conditions of failure",
    { bindingFailureConditions: ["a"] },
    [".bindingConditions: Invalid value: null: bindingConditions are required to use bindingFailureConditions"],
  ],
  [
    "too many conditions of binding",
    { bindingConditions: times(5, (index) => `a${index}`), bindingFailureConditions: times(5, (index) => `b${index}`) },
    [".bindingConditions: Too many: 5: must have at most 4 items", ".bindingFailureConditions: Too many: 5: must have at most 4 items"],
  ],
  ["a node of its own in a slice that has one place", { nodeName: "a" }, [`: Invalid value: null: ${NOT_BY_DEVICE}`]],
  ["all nodes in a slice that has one place", { allNodes: false }, [`: Invalid value: null: ${NOT_BY_DEVICE}`]],
];

for (const [title, device, problems] of ROWS) {
  test(`a device with ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfNew(resourceSlices, { spec: { ...SPEC, allNodes: true, devices: [{ name: "a", ...device }] } }),
      problems.map((problem) => `spec.devices[0]${problem}`),
    );
  });
}

const PLACES: readonly Row[] = [
  ["one node", { nodeName: "a" }, []],
  ["selected nodes", { nodeSelector: { nodeSelectorTerms: [{}, {}] } }, []],
  ["all nodes", { allNodes: true }, []],
  ["no place", {}, [`: Required value: ${ONE_PLACE}`]],
  ["an empty node", { nodeName: "" }, ['.nodeName: Invalid value: "": must not be empty', `: Required value: ${ONE_PLACE}`]],
  [
    "not all nodes",
    { allNodes: false },
    [".allNodes: Invalid value: false: must be either unset or set to true", `: Required value: ${ONE_PLACE}`],
  ],
  [
    "every place at once",
    { nodeName: "A", nodeSelector: {}, allNodes: true },
    [
      `.nodeName: Invalid value: "A": ${NOT_A_SUBDOMAIN}`,
      ".nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
      `: Invalid value: "{\`nodeName\`, \`nodeSelector\`, \`allNodes\`}": ${ONE_PLACE}`,
    ],
  ],
];

for (const [title, device, problems] of PLACES) {
  test(`a device of a slice with perDeviceNodeSelection, with ${title}, is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfNew(resourceSlices, { spec: { ...SPEC, perDeviceNodeSelection: true, devices: [{ name: "a", ...device }] } }),
      problems.map((problem) => `spec.devices[0]${problem}`),
    );
  });
}

const VERSIONS: readonly [version: string, isValid: boolean][] = [
  ["1.2.3", true],
  ["0.0.0-x-y.7+z.01", true],
  ["1.2.3--", true],
  ["1.2", false],
  ["01.2.3", false],
  ["1.2.3-01", false],
  ["1.2.3-a..b", false],
  ["1.2.3+", false],
  ["1.2.3+a_b", false],
  ["v1.2.3", false],
  ["1.2.3\n", false],
];

for (const [version, isValid] of VERSIONS) {
  test(`${JSON.stringify(version)} is ${isValid ? "a" : "not a"} semantic version`, () => {
    const problems = isValid ? [] : [`spec.devices[0].attributes[a].version: Invalid value: ${JSON.stringify(version)}: ${NOT_A_VERSION}`];

    assert.deepEqual(
      problemsOfNew(resourceSlices, { spec: { ...SPEC, allNodes: true, devices: [{ name: "a", attributes: { a: { version } } }] } }),
      problems,
    );
  });
}
