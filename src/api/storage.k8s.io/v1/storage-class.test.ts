import assert from "node:assert/strict";
import test from "node:test";
import { NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN } from "../../core/v1/pod/testing/pods.ts";
import type { JsonObject } from "../../machinery/object.ts";
import {
  cellsOf,
  columnNames,
  newObject,
  problemsOfChange,
  problemsOfNew,
  received,
  warningsOfNew,
  type Sent,
} from "../../testing/kind.ts";
import { storageClasses } from "./storage-class.ts";

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a class with a provisioner is right", { provisioner: "disks.example.com" }, []],
  ["a class has a provisioner", {}, ["provisioner: Required value"]],
  [
    "a provisioner name may have upper case, and is reported in lower case",
    { provisioner: "Disks of/Example 1" },
    [
      `provisioner: Invalid value: "disks of/example 1": prefix part ${NOT_A_SUBDOMAIN}`,
      `provisioner: Invalid value: "disks of/example 1": ${NOT_A_QUALIFIED_NAME}`,
    ],
  ],
  ["parameters have names", { provisioner: "p", parameters: { "": "x" } }, ['parameters: Invalid value: "": field can not be empty.']],
  [
    "there are not too many parameters",
    { provisioner: "p", parameters: Object.fromEntries(keys(513)) },
    ["parameters: Too long: may not be more than 512 bytes"],
  ],
  [
    "parameters are not too large",
    { provisioner: "p", parameters: { a: "x".repeat(256 * 1024) } },
    ["parameters: Too long: may not be more than 262144 bytes"],
  ],
  [
    "volumes of a class are not recycled",
    { provisioner: "p", reclaimPolicy: "Recycle" },
    ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
  ],
  [
    "as many and as large parameters as may be are right",
    { provisioner: "p", parameters: { ...Object.fromEntries(keys(511)), a: fill(511) } },
    [],
  ],
  ["an empty policy is none", { provisioner: "p", reclaimPolicy: "" }, []],
  [
    "volumes are made when it is said",
    { provisioner: "p", volumeBindingMode: "Later" },
    ['volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"'],
  ],
  [
    "places are named by labels with values, each once",
    topologies([
      [
        { key: "", values: [] },
        { key: "a b", values: ["x", "x"] },
        { key: "zone", values: ["x"] },
        { key: "zone", values: ["y"] },
      ],
    ]),
    [
      "allowedTopologies[0].matchLabelExpressions[0].values: Required value",
      'allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": name part must be non-empty',
      `allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "": ${NOT_A_QUALIFIED_NAME}`,
      'allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate value: "x"',
      `allowedTopologies[0].matchLabelExpressions[1].key: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      'allowedTopologies[0].matchLabelExpressions[3].key: Duplicate value: "zone"',
    ],
  ],
  [
    "no place is named twice, in whatever order",
    topologies([
      [
        { key: "zone", values: ["x", "y"] },
        { key: "rack", values: ["1"] },
      ],
      [
        { key: "rack", values: ["1"] },
        { key: "zone", values: ["y", "x"] },
      ],
    ]),
    ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
  ],
  [
    "no place at all is refused, as often as upstream does",
    topologies([[], []]),
    [
      'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[0].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
      'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
    ],
  ],
];

function keys(count: number): readonly [string, string][] {
  return Array.from({ length: count }, (_, index) => [`key-${index}`, ""]);
}

/** What is left for a value beside this many keys. */
function fill(count: number): string {
  const used = keys(count).reduce((sum, [key]) => sum + key.length, "a".length);
  return "x".repeat(256 * 1024 - used);
}

function topologies(terms: readonly (readonly JsonObject[])[]): Sent {
  return { provisioner: "p", allowedTopologies: terms.map((matchLabelExpressions) => ({ matchLabelExpressions })) };
}

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(storageClasses, sent), expected));
}

test("reclaimPolicy defaults to Delete and volumeBindingMode to Immediate", () => {
  const object = received(storageClasses, { provisioner: "p" });

  assert.deepEqual([object.reclaimPolicy, object.volumeBindingMode], ["Delete", "Immediate"]);
  assert.equal(storageClasses.served[0]?.defaults?.(object), object);
});

const CHANGES: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  [
    "expansion, options and places may change",
    { provisioner: "p", allowVolumeExpansion: true, mountOptions: ["ro"], allowedTopologies: [] },
    [],
  ],
  [
    "what volumes of the class are like stays",
    { provisioner: "q", parameters: { type: "hdd", size: "s" }, reclaimPolicy: "Retain", volumeBindingMode: "WaitForFirstConsumer" },
    [
      'parameters: Invalid value: {"size":"s","type":"hdd"}: field is immutable',
      'provisioner: Invalid value: "q": field is immutable',
      'reclaimPolicy: Invalid value: "Retain": field is immutable',
      'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ],
  ],
];

for (const [title, sent, expected] of CHANGES) {
  test(title, () => {
    const previous = newObject(storageClasses, { provisioner: "p" });

    assert.deepEqual(problemsOfChange(storageClasses, previous, sent), expected);
  });
}

test("absent and empty parameters are equal", () => {
  const previous = newObject(storageClasses, { provisioner: "p", parameters: {} });

  assert.deepEqual(problemsOfChange(storageClasses, previous, { provisioner: "p" }), []);
});

test("deprecated label names produce a warning", () => {
  const sent = topologies([[{ key: "zone", values: ["x"] }], [{ key: "failure-domain.beta.kubernetes.io/zone", values: ["x"] }]]);

  assert.deepEqual(warningsOfNew(storageClasses, sent), [
    'allowedTopologies[1].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  ]);
});

test("the table does not mark classes that are not the default", () => {
  assert.equal(cellsOf(storageClasses, newObject(storageClasses, { provisioner: "p" }))["Name"], "x");
});

for (const name of ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]) {
  test(`the table marks a class with ${name} as the default`, () => {
    const object = newObject(storageClasses, { metadata: { annotations: { [name]: "true" } }, provisioner: "p" });

    assert.deepEqual(columnNames(storageClasses), [
      "Name",
      "Provisioner",
      "ReclaimPolicy",
      "VolumeBindingMode",
      "AllowVolumeExpansion",
      "Age",
    ]);
    assert.deepEqual(cellsOf(storageClasses, object), {
      Name: "x (default)",
      Provisioner: "p",
      ReclaimPolicy: "Delete",
      VolumeBindingMode: "Immediate",
      AllowVolumeExpansion: false,
      Age: "<unknown>",
    });
  });
}
