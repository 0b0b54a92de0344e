import assert from "node:assert/strict";
import test from "node:test";
import { NOT_A_LABEL_VALUE, NOT_A_QUALIFIED_NAME, NOT_A_SUBDOMAIN } from "../../core/v1/pod/testing/pods.ts";
import { columnNames, newObject, problemsOfChange, problemsOfNew, warningsOfNew, type Sent } from "../../testing/kind.ts";
import { csiStorageCapacities } from "./csi-storage-capacity.ts";

const ROWS: readonly [title: string, sent: Sent, problems: readonly string[]][] = [
  ["a capacity of a class is right", { storageClassName: "fast" }, []],
  ["the class is named", {}, [`storageClassName: Invalid value: "": ${NOT_A_SUBDOMAIN}`]],
  [
    "the class is called as an object, and there is not less than nothing",
    { storageClassName: "Fast", capacity: "-1" },
    [`storageClassName: Invalid value: "Fast": ${NOT_A_SUBDOMAIN}`, 'capacity: Invalid value: "-1": must be greater than or equal to 0'],
  ],
  [
    "a selector of nodes is checked",
    {
      storageClassName: "fast",
      nodeTopology: { matchLabels: { "a b": "c d" }, matchExpressions: [{ key: "zone", operator: "Is", values: ["x y"] }] },
    },
    [
      `nodeTopology.matchLabels: Invalid value: "a b": ${NOT_A_QUALIFIED_NAME}`,
      `nodeTopology.matchLabels: Invalid value: "c d": ${NOT_A_LABEL_VALUE}`,
      'nodeTopology.matchExpressions[0].operator: Invalid value: "Is": not a valid selector operator',
      `nodeTopology.matchExpressions[0].values[0]: Invalid value: "x y": ${NOT_A_LABEL_VALUE}`,
    ],
  ],
];

for (const [title, sent, expected] of ROWS) {
  test(title, () => assert.deepEqual(problemsOfNew(csiStorageCapacities, sent), expected));
}

test("the capacity may change, the class and topology may not", () => {
  const previous = newObject(csiStorageCapacities, { storageClassName: "fast", capacity: "2Gi" });
  const changed = {
    storageClassName: "slow",
    nodeTopology: { matchExpressions: [{ operator: "Exists", key: "rack" }], matchLabels: { zone: "b", disk: "c" } },
  };

  assert.deepEqual(
    problemsOfChange(csiStorageCapacities, previous, { storageClassName: "fast", capacity: "1Gi", maximumVolumeSize: "1Mi" }),
    [],
  );
  assert.deepEqual(problemsOfChange(csiStorageCapacities, previous, changed), [
    'nodeTopology: Invalid value: {"matchLabels":{"disk":"c","zone":"b"},"matchExpressions":[{"key":"rack","operator":"Exists"}]}: field is immutable',
    'storageClassName: Invalid value: "slow": field is immutable',
  ]);
});

test("deprecated label names produce a warning", () => {
  const nodeTopology = {
    matchLabels: { zone: "a", "beta.kubernetes.io/os": "linux" },
    matchExpressions: [{ key: "beta.kubernetes.io/arch", operator: "Exists" }],
  };

  assert.deepEqual(warningsOfNew(csiStorageCapacities, { storageClassName: "fast", nodeTopology }), [
    'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
    'nodeTopology.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
  ]);
  assert.deepEqual(warningsOfNew(csiStorageCapacities, { storageClassName: "fast" }), []);
});

test("a CSIStorageCapacity has the default table, and a delete returns a Status", () => {
  assert.deepEqual(columnNames(csiStorageCapacities), ["Name", "Created At"]);
  assert.equal(csiStorageCapacities.returnsDeletedObject, undefined);
});
