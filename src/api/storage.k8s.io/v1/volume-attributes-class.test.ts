import assert from "node:assert/strict";
import test from "node:test";
import { NOT_A_QUALIFIED_NAME } from "../../core/v1/pod/testing/pods.ts";
import { cellsOf, columnNames, newObject, problemsOfChange, problemsOfNew, type Sent } from "../../testing/kind.ts";
import { volumeAttributesClasses } from "./volume-attributes-class.ts";

const GOLD: Sent = { driverName: "disks.example.com", parameters: { iops: "4000" } };

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a class with a driver and parameters is right", GOLD, []],
  [
    "a class has a driver, and something to say to it",
    {},
    ["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
  ],
  [
    "a driver is named, and parameters have names",
    { driverName: "A Driver", parameters: { "": "x" } },
    [`driverName: Invalid value: "a driver": ${NOT_A_QUALIFIED_NAME}`, 'parameters: Invalid value: "": field can not be empty.'],
  ],
  [
    "there are not too many parameters",
    { driverName: "d", parameters: Object.fromEntries(keys(513)) },
    ["parameters: Too long: may not be more than 512 bytes"],
  ],
  [
    "parameters are not too large",
    { driverName: "d", parameters: { a: "x".repeat(256 * 1024) } },
    ["parameters: Too long: may not be more than 262144 bytes"],
  ],
];

function keys(count: number): readonly [string, string][] {
  return Array.from({ length: count }, (_, index) => [`key-${index}`, ""]);
}

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(volumeAttributesClasses, sent), expected));
}

test("a VolumeAttributesClass is immutable", () => {
  const previous = newObject(volumeAttributesClasses, GOLD);
  const changed = { driverName: "files.example.com", parameters: { iops: "5000" } };

  assert.deepEqual(problemsOfChange(volumeAttributesClasses, previous, GOLD), []);
  assert.deepEqual(problemsOfChange(volumeAttributesClasses, previous, changed), [
    "driverName: Forbidden: updates to driverName are forbidden.",
    "parameters: Forbidden: updates to parameters are forbidden.",
  ]);
});

test("errors about immutable fields precede other errors", () => {
  const previous = newObject(volumeAttributesClasses, GOLD);

  assert.deepEqual(problemsOfChange(volumeAttributesClasses, previous, {}), [
    "driverName: Forbidden: updates to driverName are forbidden.",
    "parameters: Forbidden: updates to parameters are forbidden.",
    "driverName: Required value",
    "parameters: Required value: must contain at least one key/value pair",
  ]);
});

test("the table of VolumeAttributesClasses shows the driver", () => {
  assert.deepEqual(columnNames(volumeAttributesClasses), ["Name", "DriverName", "Age"]);
  assert.deepEqual(cellsOf(volumeAttributesClasses, newObject(volumeAttributesClasses, GOLD)), {
    Name: "x",
    DriverName: "disks.example.com",
    Age: "<unknown>",
  });
});
