import assert from "node:assert/strict";
import test from "node:test";
import type { JsonObject } from "../../../machinery/object.ts";
import { problemsOfNew } from "../../../testing/kind.ts";
import { resourceSlices } from "../resource-slice.ts";

const SPEC: JsonObject = { driver: "d", pool: { name: "p", generation: 1, resourceSliceCount: 1 }, allNodes: true };

function problemsOfPolicy(requestPolicy: JsonObject, allowMultipleAllocations = true): readonly string[] {
  const device = { name: "a", allowMultipleAllocations, capacity: { memory: { value: "10Gi", requestPolicy } } };
  return problemsOfNew(resourceSlices, { spec: { ...SPEC, devices: [device] } });
}

const ROWS: readonly [title: string, policy: JsonObject, problems: readonly string[]][] = [
  ["any amounts", {}, []],
  ["a usual amount", { default: "1Gi" }, []],
  ["certain amounts", { default: "2Gi", validValues: ["1Gi", "2Gi"] }, []],
  ["as many amounts as there may be", { default: "1", validValues: Array.from({ length: 10 }, (_, index) => String(index + 1)) }, []],
  ["a range in steps", { default: "3Gi", validRange: { min: "1Gi", max: "9Gi", step: "2Gi" } }, []],
  [
    "certain amounts and a range",
    { default: "1Gi", validValues: ["1Gi"], validRange: { min: "1Gi" } },
    [': Forbidden: exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'],
  ],
  ["certain amounts of which none is usual", { validValues: ["1Gi"] }, [".default: Required value: required when validValues is defined"]],
  ["a range in which nothing is usual", { validRange: { min: "1Gi" } }, [".default: Required value: required when validRange is defined"]],
  [
    "amounts that are out of order, there twice, and more than there is",
    { default: "3Gi", validValues: ["2Gi", "1Gi", "1Gi", "11Gi"] },
    [
      '.validValues[1]: Invalid value: "1Gi": values must be sorted in ascending order',
      '.validValues[3]: Invalid value: "11Gi": option is larger than capacity value: 10Gi',
      '.validValues[2]: Duplicate value: "1073741824"',
      '.validValues: Invalid value: "3Gi": default value is not valid according to the requestPolicy',
    ],
  ],
  [
    "too many amounts",
    { default: "1", validValues: Array.from({ length: 11 }, (_, index) => String(index + 1)) },
    [
      ".validValues: Too many: 11: must have at most 10 items",
      '.validValues: Invalid value: "1": default value is not valid according to the requestPolicy',
    ],
  ],
  [
    "a range without a beginning",
    { default: "1Gi", validRange: {} },
    [".validRange.min: Required value: required when validRange is defined"],
  ],
  [
    "a range that begins behind its end, behind what is usual and behind what there is",
    { default: "1Gi", validRange: { min: "11Gi", max: "2Gi" } },
    [
      '.validRange.min: Invalid value: "11Gi": min is larger than capacity value: 10Gi',
      '.validRange.min: Invalid value: "1Gi": default is less than min: 11Gi',
      '.validRange.max: Invalid value: "11Gi": min is larger than max: 2Gi',
    ],
  ],
  [
    "a range that ends behind what there is and before what is usual",
    { default: "12Gi", validRange: { min: "1Gi", max: "11Gi" } },
    [
      '.validRange.max: Invalid value: "11Gi": max is larger than capacity value: 10Gi',
      '.validRange.max: Invalid value: "12Gi": default is more than max: 11Gi',
    ],
  ],
  [
    "steps that reach neither the default nor the maximum",
    { default: "2Gi", validRange: { min: "1Gi", max: "8Gi", step: "2Gi" } },
    [
      '.validRange.step: Invalid value: "2Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
      '.validRange.step: Invalid value: "8Gi": value is not a multiple of a given step (2Gi) from (1Gi)',
    ],
  ],
  [
    "a step that leads over the end",
    { default: "9Gi", validRange: { min: "9Gi", step: "2Gi" } },
    ['.validRange.step: Invalid value: "2Gi": one step 11Gi is larger than capacity value: 10Gi'],
  ],
  [
    "steps that lead nowhere",
    { default: "2Gi", validRange: { min: "1Gi", step: "0" } },
    ['.validRange.step: Invalid value: "2Gi": value is not a multiple of a given step (0) from (1Gi)'],
  ],
];

for (const [title, policy, problems] of ROWS) {
  test(`sharing a device in ${title} is ${problems.length === 0 ? "valid" : "rejected"}`, () => {
    assert.deepEqual(
      problemsOfPolicy(policy),
      problems.map((problem) => `spec.devices[0].capacity[memory].requestPolicy${problem}`),
    );
  });
}

test("a device without allowMultipleAllocations cannot have a request policy", () => {
  assert.deepEqual(problemsOfPolicy({ default: "1Gi" }, false), [
    "spec.devices[0].capacity[memory].requestPolicy: Forbidden: allowMultipleAllocations must be true",
  ]);
});
